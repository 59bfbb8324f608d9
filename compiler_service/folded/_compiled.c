/* Plain messages read from their encoding: those of the commonest kinds with the commonest fields.

   A part of ``plain``, which says what is plain and decodes every other message. A message is
   plain here only where its bytes are exactly an id, a time, a role, addresses without a name and
   a content, each at most once and in the order of their numbers, so that decoding it would give
   the same. Of an action's call and result these contents are plain: texts in ASCII, no blocks,
   and of a result the state FINAL.

   Everything is read through a cursor that is compared with the end of the message before every
   byte. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#define ID_LENGTH 36

typedef struct {
    const unsigned char *at, *end;
} Cursor;

typedef struct {
    const char *at; /* NULL for a field that is not there */
    Py_ssize_t length;
} Text;

/* Tags: field numbers and wire types as they stand before fields. */
enum {
    TEXT_1 = 0x0a,
    TEXT_2 = 0x12,
    TEXT_3 = 0x1a,
    TEXT_4 = 0x22,
    TEXT_5 = 0x2a,
    TEXT_6 = 0x32,
    NUMBER_1 = 0x08,
    NUMBER_2 = 0x10,
    NUMBER_7 = 0x38,
    ID = TEXT_1,
    CREATED_AT = TEXT_2,
    ROLE = 0x18,
    SENDER = TEXT_4,
    RECIPIENT = TEXT_5,
    INSTRUCTION = 0x52,
    ASSISTANT_RESPONSE = 0x5a,
    ACTION_REQUEST = 0x62,
    ACTION_RESPONSE = 0x6a,
    UNSET = TEXT_1,
    BROADCAST = TEXT_2,
    MEMBER_ID = TEXT_3,
    ADDRESS_ROLE = 0x20,
};

#define LAST_ROLE 6
#define LAST_IMAGE_DETAIL 3
#define STATE_FINAL 1

/* Passes a tag; 0 where another stands. */
static int
pass_tag(Cursor *cursor, unsigned char tag)
{
    if (cursor->at >= cursor->end || *cursor->at != tag) {
        return 0;
    }
    cursor->at++;
    return 1;
}

/* Passes a number of up to 63 bits; 0 where there is none. */
static int
pass_varint(Cursor *cursor, uint64_t *number)
{
    *number = 0;
    for (int shift = 0; shift < 63 && cursor->at < cursor->end; shift += 7) {
        unsigned char byte = *cursor->at++;
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return 1;
        }
    }
    return 0;
}

/* Passes a tag and a number of one byte up to ``most``, not 0; 0 where another stands. */
static int
pass_small(Cursor *cursor, unsigned char tag, unsigned char most)
{
    if (cursor->end - cursor->at < 2 || cursor->at[0] != tag || cursor->at[1] == 0 || cursor->at[1] > most) {
        return 0;
    }
    cursor->at += 2;
    return 1;
}

/* Passes a length and what it is of; 0 where the message ends before. */
static int
pass_bytes(Cursor *cursor, Cursor *inner)
{
    uint64_t length;
    if (!pass_varint(cursor, &length) || length > (uint64_t)(cursor->end - cursor->at)) {
        return 0;
    }
    inner->at = cursor->at;
    inner->end = cursor->at += length;
    return 1;
}

static int
is_ascii(const Cursor *text)
{
    const unsigned char *at = text->at;
    uint64_t eight;
    for (; text->end - at >= 8; at += 8) {
        memcpy(&eight, at, 8);
        if (eight & 0x8080808080808080u) {
            return 0;
        }
    }
    for (; at < text->end; at++) {
        if (*at >= 0x80) {
            return 0;
        }
    }
    return 1;
}

/* Passes a field that may be left out, a text in ASCII; 0 where it is there and none. */
static int
pass_ascii(Cursor *cursor, unsigned char tag, Text *text)
{
    Cursor inner;
    *text = (Text){NULL, 0};
    if (!pass_tag(cursor, tag)) {
        return 1;
    }
    if (!pass_bytes(cursor, &inner) || !is_ascii(&inner)) {
        return 0;
    }
    *text = (Text){(const char *)inner.at, inner.end - inner.at};
    return 1;
}

static int
is_time(Cursor inner)
{
    uint64_t number;
    if (pass_tag(&inner, NUMBER_1) && !pass_varint(&inner, &number)) {
        return 0;
    }
    if (pass_tag(&inner, NUMBER_2) && !pass_varint(&inner, &number)) {
        return 0;
    }
    return inner.at == inner.end;
}

static int
is_address(Cursor inner)
{
    Cursor of;
    if (inner.at >= inner.end) {
        return 0;
    }
    switch (*inner.at) {
    case UNSET:
    case BROADCAST:
        return inner.end - inner.at == 2 && inner.at[1] == 0;
    case MEMBER_ID:
        inner.at++;
        return pass_bytes(&inner, &of) && of.end - of.at == ID_LENGTH && is_ascii(&of) && inner.at == inner.end;
    case ADDRESS_ROLE:
        return pass_small(&inner, ADDRESS_ROLE, LAST_ROLE) && inner.at == inner.end;
    default:
        return 0;
    }
}

/* Passes all fields before the content; 0 where one of them is not plain, or the id another. */
static int
pass_head(Cursor *cursor, const char *id)
{
    Cursor inner;
    if (!pass_tag(cursor, ID) || !pass_bytes(cursor, &inner) || inner.end - inner.at != ID_LENGTH
        || memcmp(inner.at, id, ID_LENGTH) != 0) {
        return 0;
    }
    if (pass_tag(cursor, CREATED_AT) && !(pass_bytes(cursor, &inner) && is_time(inner))) {
        return 0;
    }
    if (cursor->at < cursor->end && *cursor->at == ROLE && !pass_small(cursor, ROLE, LAST_ROLE)) {
        return 0;
    }
    if (pass_tag(cursor, SENDER) && !(pass_bytes(cursor, &inner) && is_address(inner))) {
        return 0;
    }
    return !pass_tag(cursor, RECIPIENT) || (pass_bytes(cursor, &inner) && is_address(inner));
}

/* The types of what plain messages become; all are named tuples. */
typedef struct {
    PyTypeObject *instruction, *assistant, *call, *result;
    PyObject *nothing, *empty; /* () and "" */
} Types;

/* What every reading returns where a message is not plain: no error is set. */
static PyObject *
not_plain(void)
{
    return Py_NewRef(Py_None);
}

/* Makes a named tuple of as many items; takes the references. NULL and an error where one of them is. */
static PyObject *
make(PyTypeObject *type, Py_ssize_t count, PyObject **items)
{
    int is_whole = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        is_whole &= items[i] != NULL;
    }
    PyObject *tuple = is_whole ? type->tp_alloc(type, count) : NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (tuple == NULL) {
            Py_XDECREF(items[i]);
        }
        else {
            PyTuple_SET_ITEM(tuple, i, items[i]);
        }
    }
    return tuple;
}

static PyObject *
text_of(const Text *text)
{
    return PyUnicode_DecodeUTF8(text->at, text->length, NULL);
}

/* A text that cannot be read is told where the message is decoded. */
static PyObject *
unless_unreadable(PyObject *made)
{
    if (made == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        return not_plain();
    }
    return made;
}

/* Reads a content whose one text is its first field. */
static int
pass_first_text(Cursor *content, Text *text)
{
    Cursor inner;
    if (!pass_tag(content, TEXT_1) || !pass_bytes(content, &inner)) {
        return 0;
    }
    *text = (Text){(const char *)inner.at, inner.end - inner.at};
    return 1;
}

static PyObject *
read_instruction(const Types *types, PyObject *id, Cursor content)
{
    Text text;
    /* How images are to be looked at stands in every stored instruction, images or not. */
    if (!pass_first_text(&content, &text) || !pass_small(&content, NUMBER_7, LAST_IMAGE_DETAIL)
        || content.at != content.end) {
        return not_plain();
    }
    PyObject *items[] = {Py_NewRef(id),
                         text_of(&text),
                         Py_NewRef(Py_None),
                         Py_NewRef(types->nothing),
                         Py_NewRef(types->empty),
                         Py_NewRef(types->nothing),
                         Py_NewRef(Py_None)};
    return unless_unreadable(make(types->instruction, 7, items));
}

static PyObject *
read_assistant(const Types *types, PyObject *id, Cursor content)
{
    Text text;
    if (!pass_first_text(&content, &text) || content.at != content.end) {
        return not_plain();
    }
    PyObject *items[] = {PyTuple_Pack(1, id), text_of(&text), Py_NewRef(Py_False)};
    return unless_unreadable(make(types->assistant, 3, items));
}

static PyObject *
read_call(const Types *types, PyObject *id, Cursor content)
{
    Text text;
    static const unsigned char tags[] = {TEXT_1, TEXT_2, TEXT_3, TEXT_4, TEXT_5, TEXT_6};
    for (size_t i = 0; i < sizeof tags; i++) {
        if (!pass_ascii(&content, tags[i], &text)) {
            return not_plain();
        }
    }
    if (content.at != content.end) {
        return not_plain();
    }
    PyObject *items[] = {Py_NewRef(id)};
    return make(types->call, 1, items);
}

static PyObject *
text_or(const Text *text, PyObject *other)
{
    return text->at == NULL ? Py_NewRef(other) : text_of(text);
}

static PyObject *
read_result(const Types *types, PyObject *id, Cursor content)
{
    Text function, arguments, output, error, request, call;
    if (!pass_ascii(&content, TEXT_1, &function) || !pass_ascii(&content, TEXT_2, &arguments)
        || !pass_ascii(&content, TEXT_3, &output) || !pass_ascii(&content, TEXT_4, &error)
        || !pass_ascii(&content, TEXT_5, &request) || !pass_ascii(&content, TEXT_6, &call)
        || !pass_small(&content, NUMBER_7, STATE_FINAL) || content.at != content.end) {
        return not_plain();
    }
    PyObject *items[] = {Py_NewRef(id),
                         text_or(&request, types->empty),
                         text_or(&function, types->empty),
                         text_or(&arguments, types->empty),
                         text_or(&output, Py_None),
                         text_or(&error, Py_None)};
    return make(types->result, 6, items);
}

/* Reads a message; None for one that is not plain. */
static PyObject *
read_one(const Types *types, PyObject *id, PyObject *message)
{
    Py_ssize_t id_length;
    if (!PyUnicode_Check(id) || !PyBytes_Check(message)) {
        return not_plain();
    }
    const char *id_bytes = PyUnicode_AsUTF8AndSize(id, &id_length);
    if (id_bytes == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
            return NULL;
        }
        PyErr_Clear();
        return not_plain();
    }
    const unsigned char *bytes = (const unsigned char *)PyBytes_AS_STRING(message);
    Cursor cursor = {bytes, bytes + PyBytes_GET_SIZE(message)}, content;
    if (id_length != ID_LENGTH || !pass_head(&cursor, id_bytes) || cursor.at >= cursor.end) {
        return not_plain();
    }
    unsigned char kind = *cursor.at++;
    if (!pass_bytes(&cursor, &content) || cursor.at != cursor.end) {
        return not_plain();
    }
    switch (kind) {
    case INSTRUCTION:
        return read_instruction(types, id, content);
    case ASSISTANT_RESPONSE:
        return read_assistant(types, id, content);
    case ACTION_REQUEST:
        return read_call(types, id, content);
    case ACTION_RESPONSE:
        return read_result(types, id, content);
    default:
        return not_plain();
    }
}

static PyObject *
read_all(const Types *types, PyObject *ids, PyObject *messages)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(messages);
    if (PySequence_Fast_GET_SIZE(ids) != count) {
        PyErr_SetString(PyExc_ValueError, "there are as many ids as messages");
        return NULL;
    }
    PyObject *records = PyList_New(count);
    for (Py_ssize_t i = 0; records != NULL && i < count; i++) {
        PyObject *id = PySequence_Fast_GET_ITEM(ids, i), *message = PySequence_Fast_GET_ITEM(messages, i);
        PyObject *record = read_one(types, id, message);
        if (record == NULL) {
            Py_CLEAR(records);
        }
        else {
            PyList_SET_ITEM(records, i, record);
        }
    }
    return records;
}

static int
take_type(PyObject *type, PyTypeObject **taken)
{
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, &PyTuple_Type)
        || ((PyTypeObject *)type)->tp_basicsize != PyTuple_Type.tp_basicsize) {
        PyErr_SetString(PyExc_TypeError, "messages become named tuples");
        return 0;
    }
    *taken = (PyTypeObject *)type;
    return 1;
}

PyDoc_STRVAR(read_plain_doc,
             "read_plain(types, message_ids, messages)\n--\n\n"
             "Return what each message becomes; None for one that is not plain.\n\n"
             "Args:\n"
             "    types: The types of instructions, assistants' responses, calls and results.\n"
             "    message_ids: The messages' ids.\n"
             "    messages: The messages, encoded.\n");

static PyObject *
read_plain(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Types types = {0};
    if (count != 3 || !PyTuple_Check(args[0]) || PyTuple_GET_SIZE(args[0]) != 4) {
        PyErr_SetString(PyExc_TypeError, "read_plain takes four types, ids and messages");
        return NULL;
    }
    if (!take_type(PyTuple_GET_ITEM(args[0], 0), &types.instruction)
        || !take_type(PyTuple_GET_ITEM(args[0], 1), &types.assistant)
        || !take_type(PyTuple_GET_ITEM(args[0], 2), &types.call)
        || !take_type(PyTuple_GET_ITEM(args[0], 3), &types.result)) {
        return NULL;
    }
    PyObject *ids = PySequence_Fast(args[1], "ids are a sequence");
    PyObject *messages = PySequence_Fast(args[2], "messages are a sequence");
    types.nothing = PyTuple_New(0);
    types.empty = PyUnicode_FromStringAndSize(NULL, 0);
    PyObject *records = NULL;
    if (ids != NULL && messages != NULL && types.nothing != NULL && types.empty != NULL) {
        records = read_all(&types, ids, messages);
    }
    Py_XDECREF(ids);
    Py_XDECREF(messages);
    Py_XDECREF(types.nothing);
    Py_XDECREF(types.empty);
    return records;
}

static PyMethodDef methods[] = {
    {"read_plain", (PyCFunction)(void (*)(void))read_plain, METH_FASTCALL, read_plain_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_compiled",
    .m_doc = "Plain messages read from their encoding.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__compiled(void)
{
    return PyModuleDef_Init(&module);
}
