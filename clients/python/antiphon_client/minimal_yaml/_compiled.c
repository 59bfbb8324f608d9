/* Common texts, told, and minimal YAML of a JSON text, written while that is read.

   Parts of ``scalars`` and ``json_entries``, which say what is to come out; the same comes
   out without them, three to ten times slower. What is common is done here: structure, whole
   numbers, truth values, and texts and keys in ASCII that stand as they are. How every
   other text, key and number is written is asked of the functions that the writer was
   made with, so that the rules of YAML stand in ``scalars`` only. What is neither, such
   as a key that stands twice or an error, is not covered: the writer returns None and
   the text is parsed.

   Everything is read through a cursor that is compared with the end of the text before
   every byte, and written into a buffer that grows. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define MOST_DEPTH 100   /* the JSON text rule's; what is deeper is parsed */
#define MOST_KEYS 256    /* of one object: each is compared with those before it */
#define MOST_DIGITS 4000 /* the JSON text rule's */
#define MOST_KEY 96      /* bytes of a key that is looked at here */
#define MOST_WORD 8      /* bytes of a word that is read as a value: those of a uint64_t */
#define MOST_WORDS 64
#define INDENT 2

/* What the first character of a text says of it. */
enum { NOT_COMMON = 0, COMMON, COMMON_UNLESS_WORD };

/* The rules of texts that stand as they are. */
typedef struct {
    PyObject_HEAD
    unsigned char begins[128]; /* what a text that begins with a character may be, see below */
    uint64_t words[MOST_WORDS];      /* those that are read as values, see word_number */
    int word_count;
    PyObject *otherwise; /* (text) -> whether it is common, for those that are not in ASCII */
} CommonTexts;

typedef struct {
    PyObject_HEAD
    CommonTexts *common;
    PyObject *write_key;        /* (key) -> its form, or None for one that has none */
    PyObject *write_text;       /* (text, pad) -> its lines; "" where it is left out */
    PyObject *write_short_text; /* the same for texts of up to kept_characters bytes */
    Py_ssize_t kept_characters;
    PyObject *write_number; /* (JSON text of a number) -> its line */
    PyObject *read_text;    /* (JSON text of a text) -> the text */
} Writer;

typedef struct {
    char *bytes;
    Py_ssize_t length, room;
} Out;

typedef struct {
    uint64_t head; /* its first bytes */
    const char *at;
    Py_ssize_t length;
} Key;

typedef struct {
    Writer *rules;
    const char *at, *end;
    Out out;
    Key *keys; /* those of all objects that are open, the innermost's last */
    Py_ssize_t key_count, key_room;
    int depth;
} Walk;

/* What a step returns. NOT_COVERED sets no exception, FAILED has set one. */
typedef enum { EMPTY = 0, WRITTEN = 1, NOT_COVERED = -1, FAILED = -2 } Step;

/* Writing */

static int
make_room(Out *out, Py_ssize_t more)
{
    if (out->room - out->length >= more) {
        return 1;
    }
    if (more > PY_SSIZE_T_MAX / 4 || out->length > PY_SSIZE_T_MAX / 4) {
        PyErr_NoMemory();
        return 0;
    }
    Py_ssize_t room = 2 * (out->length + more);
    char *bytes = PyMem_Realloc(out->bytes, (size_t)room);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    out->bytes = bytes;
    out->room = room;
    return 1;
}

static int
put(Out *out, const char *bytes, Py_ssize_t length)
{
    if (!make_room(out, length)) {
        return 0;
    }
    memcpy(out->bytes + out->length, bytes, (size_t)length);
    out->length += length;
    return 1;
}

static int
put_spaces(Out *out, Py_ssize_t count)
{
    if (!make_room(out, count)) {
        return 0;
    }
    memset(out->bytes + out->length, ' ', (size_t)count);
    out->length += count;
    return 1;
}

/* Puts a text that a function of Python gave; takes the reference. */
static Step
put_answer(Walk *walk, PyObject *answer)
{
    Step step = FAILED;
    Py_ssize_t length;
    if (answer == NULL) {
        return FAILED;
    }
    const char *bytes = PyUnicode_AsUTF8AndSize(answer, &length);
    if (bytes == NULL) {
        /* A lone surrogate, which no text that was checked has. */
        if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
            PyErr_Clear();
            step = NOT_COVERED;
        }
    }
    else if (length == 0) {
        step = EMPTY;
    }
    else if (put(&walk->out, bytes, length)) {
        step = WRITTEN;
    }
    Py_DECREF(answer);
    return step;
}

/* Reading */

static void
skip_space(Walk *walk)
{
    while (walk->at < walk->end
           && (*walk->at == ' ' || *walk->at == '\n' || *walk->at == '\r' || *walk->at == '\t')) {
        walk->at++;
    }
}

/* Passes a character, and white space before and after it; 0 where there is another. */
static int
pass(Walk *walk, char wanted)
{
    skip_space(walk);
    if (walk->at >= walk->end || *walk->at != wanted) {
        return 0;
    }
    walk->at++;
    skip_space(walk);
    return 1;
}

static int
next_is(const Walk *walk, char wanted)
{
    return walk->at < walk->end && *walk->at == wanted;
}

typedef struct {
    const char *at; /* behind the quote */
    Py_ssize_t length;
    int has_escapes;
    int is_foreign; /* has a character beyond the printable ones of ASCII */
    int has_break;  /* a colon before a space or a number sign after one */
} Text;

/* What a byte within a text asks for. */
enum { ORDINARY = 0, QUOTE, ESCAPE, BREAKING, FOREIGN, REFUSED };

static unsigned char care_of[256];

static void
set_care(void)
{
    for (int byte = 0; byte < 256; byte++) {
        care_of[byte] = byte < 0x20 ? REFUSED : byte < 0x7f ? ORDINARY : FOREIGN;
    }
    care_of['"'] = QUOTE;
    care_of['\\'] = ESCAPE;
    care_of[':'] = care_of['#'] = BREAKING;
}

/* Passes a text; the cursor is at its quote. 0 where it is none. */
static int
pass_text(Walk *walk, Text *text)
{
    const char *at = walk->at + 1, *end = walk->end;
    *text = (Text){.at = at};
    for (;; at++) {
        while (at < end && care_of[(unsigned char)*at] == ORDINARY) {
            at++;
        }
        if (at >= end) {
            return 0;
        }
        switch (care_of[(unsigned char)*at]) {
        case QUOTE:
            text->length = at - text->at;
            walk->at = at + 1;
            return 1;
        case ESCAPE:
            text->has_escapes = 1;
            if (++at >= end) {
                return 0;
            }
            break;
        case BREAKING:
            /* A quote follows at last, so that there is a byte behind this one. */
            if (*at == ':' ? at + 1 < end && at[1] == ' ' : at[-1] == ' ') {
                text->has_break = 1;
            }
            break;
        case FOREIGN:
            text->is_foreign = 1;
            break;
        default:
            return 0;
        }
    }
}

/* Returns the bytes of a text as one number; those of texts of up to 8 bytes, none of which is 0, differ. */
static uint64_t
word_number(const char *at, Py_ssize_t length)
{
    uint64_t number = 0;
    memcpy(&number, at, (size_t)(length < MOST_WORD ? length : MOST_WORD));
    return number;
}

static int
is_word(const CommonTexts *rules, const char *at, Py_ssize_t length)
{
    if (length > MOST_WORD) {
        return 0;
    }
    uint64_t number = word_number(at, length);
    for (int i = 0; i < rules->word_count; i++) {
        if (rules->words[i] == number) {
            return 1;
        }
    }
    return 0;
}

/* Tells whether a text stands as it is; where this does not know, it does not say so. */
static int
is_plain(const CommonTexts *rules, const Text *text)
{
    if (text->is_foreign || text->has_escapes || text->has_break) {
        return 0;
    }
    unsigned char begin = rules->begins[(unsigned char)text->at[0]];
    char last = text->at[text->length - 1];
    if (begin == NOT_COMMON || last == ' ' || last == ':') {
        return 0;
    }
    return begin == COMMON || !is_word(rules, text->at, text->length);
}

static int
is_blank(const Text *text)
{
    for (Py_ssize_t i = 0; i < text->length; i++) {
        if (text->at[i] != ' ') {
            return 0;
        }
    }
    return 1;
}

/* Makes the text that a JSON text stands for. */
static PyObject *
value_of(Walk *walk, const Text *text)
{
    if (!text->has_escapes) {
        return PyUnicode_DecodeUTF8(text->at, text->length, NULL);
    }
    PyObject *quoted = PyUnicode_DecodeUTF8(text->at - 1, text->length + 2, NULL);
    if (quoted == NULL) {
        return NULL;
    }
    PyObject *value = PyObject_CallOneArg(walk->rules->read_text, quoted);
    Py_DECREF(quoted);
    return value;
}

/* What cannot be read raises where it is parsed. */
static Step
not_covered_if_unreadable(void)
{
    if (PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear();
        return NOT_COVERED;
    }
    return FAILED;
}

/* Writes a text and its line break. */
static Step
write_text(Walk *walk, Py_ssize_t pad)
{
    Text text;
    if (!pass_text(walk, &text)) {
        return NOT_COVERED;
    }
    if (is_blank(&text)) {
        return EMPTY;
    }
    if (is_plain(walk->rules->common, &text)) {
        return put(&walk->out, text.at, text.length) && put(&walk->out, "\n", 1) ? WRITTEN : FAILED;
    }
    PyObject *value = value_of(walk, &text);
    if (value == NULL) {
        return not_covered_if_unreadable();
    }
    const Writer *rules = walk->rules;
    PyObject *write = text.length <= rules->kept_characters ? rules->write_short_text : rules->write_text;
    return put_answer(walk, PyObject_CallFunction(write, "Nn", value, pad + INDENT));
}

static Step
write_number(Walk *walk)
{
    const char *begin = walk->at;
    int is_whole = 1;
    while (walk->at < walk->end) {
        char byte = *walk->at;
        if (byte == '.' || byte == 'e' || byte == 'E' || byte == '+') {
            is_whole = 0;
        }
        else if (!(byte >= '0' && byte <= '9') && !(byte == '-' && (walk->at == begin || !is_whole))) {
            break;
        }
        walk->at++;
    }
    Py_ssize_t length = walk->at - begin;
    const char *digits = begin + (length > 0 && *begin == '-');
    if (walk->at == digits || *digits < '0' || *digits > '9' || length > MOST_DIGITS) {
        return NOT_COVERED;
    }
    if (is_whole && (*digits != '0' || length == 1)) {
        return put(&walk->out, begin, length) && put(&walk->out, "\n", 1) ? WRITTEN : FAILED;
    }
    if (is_whole || (digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')) {
        /* -0, or a number that begins with a nought. */
        return NOT_COVERED;
    }
    PyObject *answer = PyObject_CallFunction(walk->rules->write_number, "s#", begin, length);
    if (answer == NULL) {
        return not_covered_if_unreadable();
    }
    return put_answer(walk, answer);
}

static Step
write_word(Walk *walk, const char *word, Step step)
{
    Py_ssize_t length = (Py_ssize_t)strlen(word);
    if (walk->end - walk->at < length || memcmp(walk->at, word, (size_t)length) != 0) {
        return NOT_COVERED;
    }
    walk->at += length;
    if (step == WRITTEN && !(put(&walk->out, word, length) && put(&walk->out, "\n", 1))) {
        return FAILED;
    }
    return step;
}

static Step
write_scalar(Walk *walk, Py_ssize_t pad)
{
    if (walk->at >= walk->end) {
        return NOT_COVERED;
    }
    switch (*walk->at) {
    case '"':
        return write_text(walk, pad);
    case 't':
        return write_word(walk, "true", WRITTEN);
    case 'f':
        return write_word(walk, "false", WRITTEN);
    case 'n':
        return write_word(walk, "null", EMPTY);
    default:
        return write_number(walk);
    }
}

/* Collections.

   What stands before the first entry or item of one, its lead, is written by the caller,
   who takes it back where nothing is left of the collection. */

static Step write_mapping(Walk *walk, Py_ssize_t pad);
static Step write_sequence(Walk *walk, Py_ssize_t pad);

static Step
write_collection(Walk *walk, Py_ssize_t pad)
{
    if (walk->depth == MOST_DEPTH) {
        return NOT_COVERED;
    }
    walk->depth++;
    Step step = *walk->at == '{' ? write_mapping(walk, pad) : write_sequence(walk, pad);
    walk->depth--;
    return step;
}

/* Writes what stands behind a key: all of its line after the colon, and the lines after that. */
static Step
write_entry_value(Walk *walk, Py_ssize_t pad)
{
    if (next_is(walk, '{') || next_is(walk, '[')) {
        /* A sequence under a key stays at the key's indent. */
        Py_ssize_t inner = *walk->at == '{' ? pad + INDENT : pad;
        if (!put(&walk->out, ":\n", 2) || !put_spaces(&walk->out, inner)) {
            return FAILED;
        }
        return write_collection(walk, inner);
    }
    return put(&walk->out, ": ", 2) ? write_scalar(walk, pad) : FAILED;
}

/* Notes a key of the object whose keys begin at ``first``; NOT_COVERED for one that stands twice. */
static Step
note_key(Walk *walk, Py_ssize_t first, const Text *key)
{
    uint64_t head = word_number(key->at, key->length);
    if (walk->key_count - first >= MOST_KEYS) {
        return NOT_COVERED;
    }
    for (Py_ssize_t i = first; i < walk->key_count; i++) {
        const Key *other = &walk->keys[i];
        if (other->head == head && other->length == key->length
            && memcmp(other->at, key->at, (size_t)key->length) == 0) {
            return NOT_COVERED;
        }
    }
    if (walk->key_count == walk->key_room) {
        Py_ssize_t room = 2 * walk->key_room + 32;
        Key *keys = PyMem_Realloc(walk->keys, (size_t)room * sizeof(Key));
        if (keys == NULL) {
            PyErr_NoMemory();
            return FAILED;
        }
        walk->keys = keys;
        walk->key_room = room;
    }
    walk->keys[walk->key_count++] = (Key){head, key->at, key->length};
    return WRITTEN;
}

/* Writes a key without its colon; NOT_COVERED for one that has no simple form. */
static Step
write_key(Walk *walk, const Text *key)
{
    if (key->length == 0 || key->length > MOST_KEY || key->has_escapes) {
        return NOT_COVERED;
    }
    if (is_plain(walk->rules->common, key)) {
        return put(&walk->out, key->at, key->length) ? WRITTEN : FAILED;
    }
    PyObject *value = value_of(walk, key);
    if (value == NULL) {
        return not_covered_if_unreadable();
    }
    PyObject *answer = PyObject_CallFunction(walk->rules->write_key, "N", value);
    if (answer == Py_None) {
        Py_DECREF(answer);
        return NOT_COVERED;
    }
    return put_answer(walk, answer);
}

static Step
write_entries(Walk *walk, Py_ssize_t first_key, Py_ssize_t pad)
{
    Step written = EMPTY;
    do {
        Py_ssize_t mark = walk->out.length;
        if (written == WRITTEN && !put_spaces(&walk->out, pad)) {
            return FAILED;
        }
        Text key;
        if (!next_is(walk, '"') || !pass_text(walk, &key)) {
            return NOT_COVERED;
        }
        Step step = note_key(walk, first_key, &key);
        if (step == WRITTEN) {
            step = write_key(walk, &key);
        }
        if (step != WRITTEN || !pass(walk, ':')) {
            return step == FAILED ? FAILED : NOT_COVERED;
        }
        step = write_entry_value(walk, pad);
        if (step < EMPTY) {
            return step;
        }
        if (step == WRITTEN) {
            written = WRITTEN;
        }
        else {
            walk->out.length = mark;
        }
    } while (pass(walk, ','));
    return pass(walk, '}') ? written : NOT_COVERED;
}

static Step
write_mapping(Walk *walk, Py_ssize_t pad)
{
    pass(walk, '{');
    if (pass(walk, '}')) {
        return EMPTY;
    }
    Py_ssize_t first_key = walk->key_count;
    Step step = write_entries(walk, first_key, pad);
    walk->key_count = first_key;
    return step;
}

static Step
write_sequence(Walk *walk, Py_ssize_t pad)
{
    Step written = EMPTY;
    pass(walk, '[');
    if (pass(walk, ']')) {
        return EMPTY;
    }
    do {
        Py_ssize_t mark = walk->out.length;
        if (written == WRITTEN && !put_spaces(&walk->out, pad)) {
            return FAILED;
        }
        if (!put(&walk->out, "- ", 2)) {
            return FAILED;
        }
        int is_collection = next_is(walk, '{') || next_is(walk, '[');
        Step step = is_collection ? write_collection(walk, pad + INDENT) : write_scalar(walk, pad);
        if (step < EMPTY) {
            return step;
        }
        if (step == WRITTEN) {
            written = WRITTEN;
        }
        else {
            walk->out.length = mark;
        }
    } while (pass(walk, ','));
    return pass(walk, ']') ? written : NOT_COVERED;
}

/* What a module keeps: the type that a writer's common texts are of. */
typedef struct {
    PyObject *common_texts;
} State;

/* The writer */

PyDoc_STRVAR(write_doc,
             "write(key, pad, text)\n--\n\n"
             "Return the lines of an entry; \"\" where nothing is left of its value, None where it is not covered.\n\n"
             "Args:\n"
             "    key: The entry's key, as it is written.\n"
             "    pad: The spaces that every line begins with.\n"
             "    text: The JSON text of the value.\n");

static PyObject *
writer_write(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t key_length, length;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "write takes a key, a pad and a text");
        return NULL;
    }
    const char *key = PyUnicode_AsUTF8AndSize(args[0], &key_length);
    Py_ssize_t pad = key == NULL ? -1 : PyNumber_AsSsize_t(args[1], PyExc_OverflowError);
    if (key == NULL || (pad == -1 && PyErr_Occurred())) {
        return NULL;
    }
    if (pad < 0 || pad > 1024) {
        PyErr_SetString(PyExc_ValueError, "a pad is 0 to 1024 spaces");
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(args[2], &length);
    if (text == NULL) {
        if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
            PyErr_Clear();
            Py_RETURN_NONE;
        }
        return NULL;
    }
    Walk walk = {.rules = (Writer *)self, .at = text, .end = text + length};
    Step step = FAILED;
    if (make_room(&walk.out, length + length / 2 + 256) && put_spaces(&walk.out, pad)
        && put(&walk.out, key, key_length)) {
        skip_space(&walk);
        step = write_entry_value(&walk, pad);
        skip_space(&walk);
        if (step >= EMPTY && walk.at != walk.end) {
            step = NOT_COVERED;
        }
    }
    PyObject *result = NULL;
    if (step == WRITTEN) {
        result = PyUnicode_DecodeUTF8(walk.out.bytes, walk.out.length, NULL);
    }
    else if (step == EMPTY) {
        result = PyUnicode_FromStringAndSize(NULL, 0);
    }
    else if (step == NOT_COVERED) {
        result = Py_NewRef(Py_None);
    }
    PyMem_Free(walk.out.bytes);
    PyMem_Free(walk.keys);
    return result;
}

static PyObject *
writer_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"common_texts",     "kept_characters", "write_key", "write_text",
                            "write_short_text", "write_number",    "read_text", NULL};
    Py_ssize_t kept_characters;
    PyObject *common, *key, *text, *short_text, *number, *read;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "$OnOOOOO", names, &common, &kept_characters, &key, &text,
                                     &short_text, &number, &read)) {
        return NULL;
    }
    State *state = PyType_GetModuleState(type);
    if (state == NULL || !PyObject_TypeCheck(common, (PyTypeObject *)state->common_texts)) {
        PyErr_SetString(PyExc_TypeError, "common_texts are CommonTexts");
        return NULL;
    }
    Writer *writer = (Writer *)type->tp_alloc(type, 0);
    if (writer == NULL) {
        return NULL;
    }
    writer->common = (CommonTexts *)Py_NewRef(common);
    writer->kept_characters = kept_characters;
    writer->write_key = Py_NewRef(key);
    writer->write_text = Py_NewRef(text);
    writer->write_short_text = Py_NewRef(short_text);
    writer->write_number = Py_NewRef(number);
    writer->read_text = Py_NewRef(read);
    return (PyObject *)writer;
}

static int
writer_traverse(PyObject *self, visitproc visit, void *arg)
{
    Writer *writer = (Writer *)self;
    Py_VISIT(writer->common);
    Py_VISIT(writer->write_key);
    Py_VISIT(writer->write_text);
    Py_VISIT(writer->write_short_text);
    Py_VISIT(writer->write_number);
    Py_VISIT(writer->read_text);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int
writer_clear(PyObject *self)
{
    Writer *writer = (Writer *)self;
    Py_CLEAR(writer->common);
    Py_CLEAR(writer->write_key);
    Py_CLEAR(writer->write_text);
    Py_CLEAR(writer->write_short_text);
    Py_CLEAR(writer->write_number);
    Py_CLEAR(writer->read_text);
    return 0;
}

static void
writer_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    writer_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef writer_methods[] = {
    {"write", (PyCFunction)(void (*)(void))writer_write, METH_FASTCALL, write_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_doc, "Writes entries whose values are JSON texts."},
    {Py_tp_new, writer_new},
    {Py_tp_traverse, writer_traverse},
    {Py_tp_clear, writer_clear},
    {Py_tp_dealloc, writer_dealloc},
    {Py_tp_methods, writer_methods},
    {0, NULL},
};

static PyType_Spec writer_spec = {
    .name = "antiphon_client.minimal_yaml._compiled.JsonWriter",
    .basicsize = sizeof(Writer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = writer_slots,
};

/* Common texts */

PyDoc_STRVAR(match_doc,
             "match(text)\n--\n\n"
             "Tell whether a text is neither blank nor written in any way but as it stands.\n\n"
             "Of a text beyond ASCII it says what ``otherwise`` does.\n");

static PyObject *
common_match(PyObject *self, PyObject *text)
{
    CommonTexts *rules = (CommonTexts *)self;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "match takes a text");
        return NULL;
    }
    if (!PyUnicode_IS_ASCII(text)) {
        return PyObject_CallOneArg(rules->otherwise, text);
    }
    const char *at = PyUnicode_DATA(text);
    Text whole = {.at = at, .length = PyUnicode_GET_LENGTH(text)};
    for (Py_ssize_t i = 0; i < whole.length; i++) {
        switch (care_of[(unsigned char)at[i]]) {
        case BREAKING:
            whole.has_break |= at[i] == ':' ? at[i + 1] == ' ' : i > 0 && at[i - 1] == ' ';
            break;
        case FOREIGN:
        case REFUSED:
            Py_RETURN_FALSE;
        default:
            break;
        }
    }
    return PyBool_FromLong(whole.length > 0 && is_plain(rules, &whole));
}

static int
take_first_characters(CommonTexts *rules, const char *characters)
{
    for (; *characters != '\0'; characters++) {
        if ((unsigned char)*characters >= 0x80) {
            PyErr_SetString(PyExc_ValueError, "first characters are ASCII");
            return 0;
        }
        rules->begins[(unsigned char)*characters] = COMMON;
    }
    return 1;
}

static int
take_words(CommonTexts *rules, PyObject *words)
{
    PyObject *iterator = PyObject_GetIter(words);
    if (iterator == NULL) {
        return 0;
    }
    PyObject *word;
    while ((word = PyIter_Next(iterator)) != NULL) {
        Py_ssize_t length;
        const char *bytes = PyUnicode_AsUTF8AndSize(word, &length);
        if (bytes != NULL
            && (length == 0 || length > MOST_WORD || rules->word_count == MOST_WORDS
                || !rules->begins[(unsigned char)*bytes & 0x7f])) {
            PyErr_SetString(PyExc_ValueError, "words are few and short and begin as common texts do");
            bytes = NULL;
        }
        if (bytes != NULL) {
            rules->begins[(unsigned char)*bytes & 0x7f] = COMMON_UNLESS_WORD;
            rules->words[rules->word_count++] = word_number(bytes, length);
        }
        Py_DECREF(word);
        if (bytes == NULL) {
            break;
        }
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() == NULL;
}

static PyObject *
common_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"first_characters", "words", "otherwise", NULL};
    const char *first_characters;
    PyObject *words, *otherwise;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "$sOO", names, &first_characters, &words, &otherwise)) {
        return NULL;
    }
    CommonTexts *rules = (CommonTexts *)type->tp_alloc(type, 0);
    if (rules == NULL) {
        return NULL;
    }
    rules->otherwise = Py_NewRef(otherwise);
    if (!take_first_characters(rules, first_characters) || !take_words(rules, words)) {
        Py_DECREF(rules);
        return NULL;
    }
    return (PyObject *)rules;
}

static int
common_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((CommonTexts *)self)->otherwise);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int
common_clear(PyObject *self)
{
    Py_CLEAR(((CommonTexts *)self)->otherwise);
    return 0;
}

static void
common_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    common_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef common_methods[] = {
    {"match", common_match, METH_O, match_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot common_slots[] = {
    {Py_tp_doc, "Tells texts that are written as they stand."},
    {Py_tp_new, common_new},
    {Py_tp_traverse, common_traverse},
    {Py_tp_clear, common_clear},
    {Py_tp_dealloc, common_dealloc},
    {Py_tp_methods, common_methods},
    {0, NULL},
};

static PyType_Spec common_spec = {
    .name = "antiphon_client.minimal_yaml._compiled.CommonTexts",
    .basicsize = sizeof(CommonTexts),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = common_slots,
};

/* The module */

static PyObject *
add_type(PyObject *module, PyType_Spec *spec, const char *name)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddObjectRef(module, name, type) < 0) {
        Py_CLEAR(type);
    }
    return type;
}

static int
module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    set_care();
    PyObject *writer = add_type(module, &writer_spec, "JsonWriter");
    Py_XDECREF(writer);
    state->common_texts = writer == NULL ? NULL : add_type(module, &common_spec, "CommonTexts");
    return state->common_texts == NULL ? -1 : 0;
}

static int
module_traverse(PyObject *module, visitproc visit, void *arg)
{
    Py_VISIT(((State *)PyModule_GetState(module))->common_texts);
    return 0;
}

static int
module_clear(PyObject *module)
{
    Py_CLEAR(((State *)PyModule_GetState(module))->common_texts);
    return 0;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_compiled",
    .m_doc = "What of minimal YAML is compiled.",
    .m_size = sizeof(State),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC
PyInit__compiled(void)
{
    return PyModuleDef_Init(&module);
}
