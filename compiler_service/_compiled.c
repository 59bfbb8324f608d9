/* Rows of turns put together: as they travel, and in the form that their digest is made of.

   Parts of ``turn_encoding`` and ``digest``, which say what is to come out and do it for
   turns with images as well; for texts alone the same comes out of here in a fifth of the
   time. A row is what ``state`` calls a TurnRow: role, text, images, ids. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define MOST_VARINT 10
#define LENGTH_BYTES 8
#define ROW_FIELDS 4

typedef struct {
    char *bytes;
    Py_ssize_t length, room;
} Out;

/* Returns where so many bytes can be written; NULL and an error where there is no memory. */
static char *
room_for(Out *out, Py_ssize_t more)
{
    if (out->room - out->length < more) {
        if (more > PY_SSIZE_T_MAX / 4 || out->length > PY_SSIZE_T_MAX / 4) {
            PyErr_NoMemory();
            return NULL;
        }
        Py_ssize_t room = 2 * (out->length + more);
        char *bytes = PyMem_Realloc(out->bytes, (size_t)room);
        if (bytes == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        out->bytes = bytes;
        out->room = room;
    }
    return out->bytes + out->length;
}

static char *
put(char *at, const char *bytes, Py_ssize_t length)
{
    memcpy(at, bytes, (size_t)length);
    return at + length;
}

static char *
put_varint(char *at, uint64_t number)
{
    for (; number > 0x7f; number >>= 7) {
        *at++ = (char)((number & 0x7f) | 0x80);
    }
    *at++ = (char)number;
    return at;
}

static Py_ssize_t
varint_length(uint64_t number)
{
    Py_ssize_t length = 1;
    for (; number > 0x7f; number >>= 7) {
        length++;
    }
    return length;
}

/* A row of text alone. */
typedef struct {
    PyObject *role; /* borrowed */
    const char *text;
    Py_ssize_t length;
    PyObject *encoded; /* what holds the text, where the row's own object does not */
} Row;

typedef enum { READ = 1, NOT_COVERED = 0, FAILED = -1 } Step;

static Step
read_row(PyObject *item, Row *row)
{
    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != ROW_FIELDS) {
        PyErr_SetString(PyExc_TypeError, "a row is role, text, images and ids");
        return FAILED;
    }
    PyObject *text = PyTuple_GET_ITEM(item, 1);
    int has_images = PyObject_IsTrue(PyTuple_GET_ITEM(item, 2));
    if (has_images != 0) {
        return has_images < 0 ? FAILED : NOT_COVERED;
    }
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a row's text is a str");
        return FAILED;
    }
    *row = (Row){.role = PyTuple_GET_ITEM(item, 0)};
    if (PyUnicode_IS_ASCII(text)) {
        row->text = PyUnicode_DATA(text);
        row->length = PyUnicode_GET_LENGTH(text);
        return READ;
    }
    /* A copy of its own: the text would keep its encoding as long as it lives. */
    row->encoded = PyUnicode_AsUTF8String(text);
    if (row->encoded == NULL) {
        return FAILED;
    }
    row->text = PyBytes_AS_STRING(row->encoded);
    row->length = PyBytes_GET_SIZE(row->encoded);
    return READ;
}

/* What stands around texts. */
typedef struct {
    PyObject *roles; /* a dict: the field of each role */
    const char *message_tag, *text_tag, *marker;
    Py_ssize_t message_tag_length, text_tag_length, marker_length;
} Frame;

typedef int (*PutRow)(Out *out, const Frame *frame, const Row *row);

static int
put_encoded(Out *out, const Frame *frame, const Row *row)
{
    PyObject *role = PyDict_GetItemWithError(frame->roles, row->role);
    if (role == NULL || !PyBytes_Check(role)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_KeyError, "a role that is none");
        }
        return 0;
    }
    Py_ssize_t role_length = PyBytes_GET_SIZE(role);
    Py_ssize_t inner = role_length + frame->text_tag_length + varint_length((uint64_t)row->length) + row->length;
    char *at = room_for(out, frame->message_tag_length + MOST_VARINT + inner);
    if (at == NULL) {
        return 0;
    }
    at = put_varint(put(at, frame->message_tag, frame->message_tag_length), (uint64_t)inner);
    at = put(at, PyBytes_AS_STRING(role), role_length);
    at = put_varint(put(at, frame->text_tag, frame->text_tag_length), (uint64_t)row->length);
    out->length = put(at, row->text, row->length) - out->bytes;
    return 1;
}

static int
put_form(Out *out, const Frame *frame, const Row *row)
{
    long role = PyLong_AsLong(row->role);
    if (role < 0 || role > 0xff) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "a role is one byte");
        }
        return 0;
    }
    char *at = room_for(out, 1 + frame->marker_length + LENGTH_BYTES + row->length);
    if (at == NULL) {
        return 0;
    }
    *at++ = (char)role;
    at = put(at, frame->marker, frame->marker_length);
    for (int shift = 8 * (LENGTH_BYTES - 1); shift >= 0; shift -= 8) {
        *at++ = (char)((uint64_t)row->length >> shift & 0xff);
    }
    out->length = put(at, row->text, row->length) - out->bytes;
    return 1;
}

/* Puts all rows; None where one of them has images. */
static PyObject *
put_rows(PyObject *rows, const Frame *frame, PutRow put_row)
{
    PyObject *items = PySequence_Fast(rows, "rows are a sequence");
    if (items == NULL) {
        return NULL;
    }
    Out out = {0};
    Step step = READ;
    for (Py_ssize_t i = 0; step == READ && i < PySequence_Fast_GET_SIZE(items); i++) {
        Row row;
        step = read_row(PySequence_Fast_GET_ITEM(items, i), &row);
        if (step == READ) {
            step = put_row(&out, frame, &row) ? READ : FAILED;
            Py_XDECREF(row.encoded);
        }
    }
    PyObject *result = NULL;
    if (step == READ) {
        result = PyBytes_FromStringAndSize(out.bytes, out.length);
    }
    else if (step == NOT_COVERED) {
        result = Py_NewRef(Py_None);
    }
    PyMem_Free(out.bytes);
    Py_DECREF(items);
    return result;
}

PyDoc_STRVAR(encode_rows_doc,
             "encode_rows(rows, roles, message_tag, text_tag)\n--\n\n"
             "Return rows as repeated messages; None where one of them has images.\n\n"
             "Args:\n"
             "    rows: The rows.\n"
             "    roles: The field that each role is in a message.\n"
             "    message_tag: The tag of a message.\n"
             "    text_tag: The tag of the text in it.\n");

static PyObject *
encode_rows(PyObject *module, PyObject *args)
{
    PyObject *rows;
    Frame frame = {0};
    if (!PyArg_ParseTuple(args, "OO!y#y#", &rows, &PyDict_Type, &frame.roles, &frame.message_tag,
                          &frame.message_tag_length, &frame.text_tag, &frame.text_tag_length)) {
        return NULL;
    }
    return put_rows(rows, &frame, put_encoded);
}

PyDoc_STRVAR(rows_form_doc,
             "rows_form(rows, marker)\n--\n\n"
             "Return the canonical form of rows; None where one of them has images.\n\n"
             "Args:\n"
             "    rows: The rows.\n"
             "    marker: What stands between the role and the text's length.\n");

static PyObject *
rows_form(PyObject *module, PyObject *args)
{
    PyObject *rows;
    Frame frame = {0};
    if (!PyArg_ParseTuple(args, "Oy#", &rows, &frame.marker, &frame.marker_length)) {
        return NULL;
    }
    return put_rows(rows, &frame, put_form);
}

PyDoc_STRVAR(texts_memory_doc,
             "texts_memory(rows)\n--\n\n"
             "Return the memory in bytes of the rows' texts; None where one of them is not in ASCII.\n\n"
             "No text is looked at, only what stands before it: to read them all again would be felt.\n");

static PyObject *
texts_memory(PyObject *module, PyObject *rows)
{
    PyObject *items = PySequence_Fast(rows, "rows are a sequence");
    if (items == NULL) {
        return NULL;
    }
    Py_ssize_t size = 0;
    int is_ascii = 1;
    for (Py_ssize_t i = 0; is_ascii && i < PySequence_Fast_GET_SIZE(items); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(items, i);
        PyObject *text = PyTuple_Check(item) && PyTuple_GET_SIZE(item) == ROW_FIELDS
                             ? PyTuple_GET_ITEM(item, 1)
                             : Py_None;
        is_ascii = PyUnicode_Check(text) && PyUnicode_IS_COMPACT_ASCII(text);
        if (is_ascii) {
            size += (Py_ssize_t)sizeof(PyASCIIObject) + PyUnicode_GET_LENGTH(text) + 1;
        }
    }
    Py_DECREF(items);
    return is_ascii ? PyLong_FromSsize_t(size) : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"encode_rows", encode_rows, METH_VARARGS, encode_rows_doc},
    {"rows_form", rows_form, METH_VARARGS, rows_form_doc},
    {"texts_memory", texts_memory, METH_O, texts_memory_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_compiled",
    .m_doc = "Rows of turns, put together.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__compiled(void)
{
    return PyModuleDef_Init(&module);
}
