#include "net/grpc_status.h"

#include "base/limits.h"
#include "net/base64.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ERROR_VERSION = 1,
    /* What is sent of an error: peers take 8 KiB of trailers at least, in base64. */
    ERROR_BYTES = 4096,
    ERROR_CAUSES = 8,
    MESSAGE_BYTES = 1024,
};

enum grpc_status grpc_status_of(enum kith_code code)
{
    switch (code) {
    case KITH_OK:
        return GRPC_OK;
    case KITH_ERROR_OUT_OF_MEMORY:
    case KITH_ERROR_LIMIT:
        return GRPC_RESOURCE_EXHAUSTED;
    case KITH_ERROR_INVALID_ARGUMENT:
    case KITH_ERROR_SYNTAX:
    case KITH_ERROR_UNDEFINED_COLUMN:
    case KITH_ERROR_UNDEFINED_TABLE:
    case KITH_ERROR_UNDEFINED_FUNCTION:
    case KITH_ERROR_UNDEFINED_SETTING:
    case KITH_ERROR_AMBIGUOUS_COLUMN:
    case KITH_ERROR_TYPE_MISMATCH:
    case KITH_ERROR_DIVISION_BY_ZERO:
    case KITH_ERROR_INVALID_TEXT:
        return GRPC_INVALID_ARGUMENT;
    case KITH_ERROR_OUT_OF_RANGE:
        return GRPC_OUT_OF_RANGE;
    case KITH_ERROR_NOT_IMPLEMENTED:
        return GRPC_UNIMPLEMENTED;
    case KITH_ERROR_NOT_FOUND:
        return GRPC_NOT_FOUND;
    case KITH_ERROR_CORRUPT:
        return GRPC_DATA_LOSS;
    case KITH_ERROR_CANCELLED:
        return GRPC_CANCELLED;
    case KITH_ERROR_TIMEOUT:
        return GRPC_DEADLINE_EXCEEDED;
    case KITH_ERROR_UNAVAILABLE:
        return GRPC_UNAVAILABLE;
    case KITH_ERROR_INTERNAL:
    case KITH_ERROR_IO:
    case KITH_ERROR_PROTOCOL:
        return GRPC_INTERNAL;
    }
    return GRPC_UNKNOWN;
}

enum kith_code grpc_status_code(unsigned status)
{
    static const enum kith_code codes[] = {
        [GRPC_OK] = KITH_OK,
        [GRPC_CANCELLED] = KITH_ERROR_CANCELLED,
        [GRPC_UNKNOWN] = KITH_ERROR_INTERNAL,
        [GRPC_INVALID_ARGUMENT] = KITH_ERROR_INVALID_ARGUMENT,
        [GRPC_DEADLINE_EXCEEDED] = KITH_ERROR_TIMEOUT,
        [GRPC_NOT_FOUND] = KITH_ERROR_NOT_FOUND,
        [GRPC_ALREADY_EXISTS] = KITH_ERROR_INVALID_ARGUMENT,
        [GRPC_PERMISSION_DENIED] = KITH_ERROR_INVALID_ARGUMENT,
        [GRPC_RESOURCE_EXHAUSTED] = KITH_ERROR_LIMIT,
        [GRPC_FAILED_PRECONDITION] = KITH_ERROR_INVALID_ARGUMENT,
        [GRPC_ABORTED] = KITH_ERROR_INTERNAL,
        [GRPC_OUT_OF_RANGE] = KITH_ERROR_OUT_OF_RANGE,
        [GRPC_UNIMPLEMENTED] = KITH_ERROR_NOT_IMPLEMENTED,
        [GRPC_INTERNAL] = KITH_ERROR_INTERNAL,
        [GRPC_UNAVAILABLE] = KITH_ERROR_UNAVAILABLE,
        [GRPC_DATA_LOSS] = KITH_ERROR_CORRUPT,
        [GRPC_UNAUTHENTICATED] = KITH_ERROR_INVALID_ARGUMENT,
    };
    return status < ARRAY_SIZE(codes) ? codes[status] : KITH_ERROR_INTERNAL;
}

static kith_error *append_number(struct strbuf *out, uint64_t value, size_t bytes)
{
    char *at;
    TRY(strbuf_reserve(out, bytes, &at));
    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)(value >> (8 * i) & 0xFF);
    out->length += bytes;
    out->data[out->length] = '\0';
    return NULL;
}

/* Cuts at a length that does not split a UTF-8 character. */
static size_t cut(const char *text, size_t limit)
{
    size_t length = strlen(text);
    if (length <= limit)
        return length;
    length = limit;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    return length;
}

static kith_error *append_text(struct strbuf *out, const char *text)
{
    if (text == NULL)
        return append_number(out, UINT32_MAX, 4);
    size_t length = cut(text, MESSAGE_BYTES);
    TRY(append_number(out, length, 4));
    return strbuf_append(out, text, length);
}

static kith_error *append_error(struct strbuf *out, const kith_error *error)
{
    TRY(append_number(out, (uint64_t)kith_error_code(error), 4));
    TRY(append_number(out, kith_error_position(error), 8));
    TRY(append_text(out, kith_error_message(error)));
    return append_text(out, kith_error_hint(error));
}

kith_error *grpc_status_write(const kith_error *error, struct headers *trailers)
{
    char status[16];
    snprintf(status, sizeof status, "%d", error == NULL ? GRPC_OK : grpc_status_of(kith_error_code(error)));
    TRY(headers_add_text(trailers, "grpc-status", status));
    if (error == NULL)
        return NULL;

    /* Percent-encoding of what is not printable ASCII ("grpc-message" in the protocol's specification). */
    char described[MESSAGE_BYTES + 1];
    error_describe(error, described, sizeof described);
    _cleanup_(strbuf_reset) struct strbuf message = {0};
    for (const char *c = described; *c != '\0'; c++) {
        bool plain = *c >= 0x20 && *c <= 0x7E && *c != '%';
        TRY(plain ? strbuf_append(&message, c, 1) : strbuf_printf(&message, "%%%02X", (unsigned char)*c));
    }
    TRY(headers_add_text(trailers, "grpc-message", strbuf_text(&message)));

    _cleanup_(strbuf_reset) struct strbuf whole = {0};
    TRY(append_number(&whole, ERROR_VERSION, 1));
    for (int i = 0; error != NULL && i < ERROR_CAUSES && whole.length < ERROR_BYTES; i++) {
        TRY(append_error(&whole, error));
        error = kith_error_cause(error);
    }
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    TRY(base64_encode((struct str){whole.data, whole.length}, &text));
    return headers_add(trailers, str_of("kith-error-bin"), (struct str){strbuf_text(&text), text.length});
}

struct reader {
    struct str left;
};

static bool read_number(struct reader *reader, size_t bytes, uint64_t *out)
{
    if (reader->left.length < bytes)
        return false;
    *out = 0;
    for (size_t i = 0; i < bytes; i++)
        *out |= (uint64_t)(uint8_t)reader->left.data[i] << (8 * i);
    reader->left.data += bytes;
    reader->left.length -= bytes;
    return true;
}

/* *present is false for the mark of a missing text. */
static bool read_text(struct reader *reader, struct str *out, bool *present)
{
    uint64_t length;
    if (!read_number(reader, 4, &length))
        return false;
    *present = length != UINT32_MAX;
    *out = (struct str){"", 0};
    if (!*present)
        return true;
    if (length > reader->left.length)
        return false;
    *out = (struct str){reader->left.data, (size_t)length};
    reader->left.data += length;
    reader->left.length -= (size_t)length;
    return true;
}

struct sent_error {
    enum kith_code code;
    size_t position;
    struct str message;
    struct str hint;
    bool has_hint;
};

static bool read_one(struct reader *reader, struct sent_error *out)
{
    uint64_t code;
    uint64_t position;
    bool has_message;
    if (!read_number(reader, 4, &code) || !read_number(reader, 8, &position) ||
        !read_text(reader, &out->message, &has_message) || !read_text(reader, &out->hint, &out->has_hint))
        return false;
    out->code = code == 0 || code > KITH_ERROR_AMBIGUOUS_COLUMN ? KITH_ERROR_INTERNAL : (enum kith_code)code;
    out->position = position > SIZE_MAX ? 0 : (size_t)position;
    return has_message;
}

/* The error that a Kith sent; NULL when the bytes are not one (then the plain status speaks). */
static kith_error *read_whole(struct str bytes)
{
    struct sent_error chain[ERROR_CAUSES];
    size_t count = 0;
    struct reader reader = {bytes};
    uint64_t version;
    if (!read_number(&reader, 1, &version) || version != ERROR_VERSION)
        return NULL;
    while (count < ERROR_CAUSES && reader.left.length > 0) {
        if (!read_one(&reader, &chain[count]))
            return NULL;
        count++;
    }
    kith_error *error = NULL;
    while (count-- > 0) {
        const struct sent_error *sent = &chain[count];
        int length = (int)MIN(sent->message.length, (size_t)LIMIT_ERROR_MESSAGE_BYTES);
        error = error == NULL ? error_new(sent->code, "%.*s", length, sent->message.data)
                              : error_wrap(error, "%.*s", length, sent->message.data);
        if (sent->position > 0)
            error = error_at(error, sent->position - 1);
        int hint_length = (int)MIN(sent->hint.length, (size_t)LIMIT_ERROR_MESSAGE_BYTES);
        if (sent->has_hint)
            error = error_hint(error, "%.*s", hint_length, sent->hint.data);
    }
    return error;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Undoes percent-encoding; what is not a proper escape stays as it is. */
static kith_error *decode_message(struct str text, struct strbuf *out)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '%' && i + 2 < text.length && hex_value(text.data[i + 1]) >= 0 && hex_value(text.data[i + 2]) >= 0) {
            c = (char)(hex_value(text.data[i + 1]) << 4 | hex_value(text.data[i + 2]));
            i += 2;
        }
        if (c != '\0')
            TRY(strbuf_append(out, &c, 1));
    }
    return NULL;
}

static kith_error *no_status(unsigned http_status, const char *peer)
{
    if (http_status == 0 || http_status == 200)
        return error_new(KITH_ERROR_PROTOCOL, "%s ended a call without a grpc-status", peer);
    bool passing = http_status == 429 || http_status == 502 || http_status == 503 || http_status == 504;
    return error_new(passing ? KITH_ERROR_UNAVAILABLE : KITH_ERROR_PROTOCOL,
                     "%s answered with HTTP status %u, not with gRPC", peer, http_status);
}

kith_error *grpc_status_read(const struct headers *trailers, unsigned http_status, const char *peer)
{
    struct str text;
    if (!headers_find(trailers, "grpc-status", &text))
        return no_status(http_status, peer);
    unsigned status = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || status > 1000)
            return error_new(KITH_ERROR_PROTOCOL, "%s sent the grpc-status \"%.*s\", which is not a number", peer,
                             (int)text.length, text.data);
        status = status * 10 + (unsigned)(text.data[i] - '0');
    }
    if (text.length == 0)
        return error_new(KITH_ERROR_PROTOCOL, "%s sent an empty grpc-status", peer);
    if (status == GRPC_OK)
        return NULL;

    _cleanup_(strbuf_reset) struct strbuf whole = {0};
    if (headers_find(trailers, "kith-error-bin", &text)) {
        kith_error *malformed = base64_decode(text, &whole);
        kith_error *error = malformed == NULL ? read_whole((struct str){whole.data, whole.length}) : NULL;
        error_free(malformed);
        if (error != NULL)
            return error;
    }
    _cleanup_(strbuf_reset) struct strbuf message = {0};
    if (headers_find(trailers, "grpc-message", &text))
        TRY(decode_message(text, &message));
    if (message.length == 0)
        return error_new(grpc_status_code(status), "%s failed the call with gRPC status %u", peer, status);
    return error_new(grpc_status_code(status), "%s", strbuf_text(&message));
}

void grpc_timeout_write(int64_t left_ns, char out[16])
{
    static const struct {
        char unit;
        int64_t ns;
    } units[] = {{'n', 1}, {'u', 1000}, {'m', 1000000}, {'S', 1000000000}, {'M', 60 * INT64_C(1000000000)}};
    enum { LARGEST = 99999999 };
    left_ns = MAX(left_ns, INT64_C(1));
    size_t i = 0;
    while (i + 1 < ARRAY_SIZE(units) && left_ns / units[i].ns >= LARGEST)
        i++;
    int64_t value = left_ns / units[i].ns + (left_ns % units[i].ns != 0);
    snprintf(out, 16, "%lld%c", (long long)MIN(value, (int64_t)LARGEST), units[i].unit);
}

kith_error *grpc_timeout_read(struct str text, int64_t *out_ns)
{
    static const char units[] = "numSMH";
    static const int64_t unit_ns[] = {
        1, 1000, 1000000, 1000000000, 60 * INT64_C(1000000000), 3600 * INT64_C(1000000000)};
    int64_t value = 0;
    size_t digits = 0;
    while (digits < text.length && digits <= 8 && text.data[digits] >= '0' && text.data[digits] <= '9')
        value = value * 10 + (text.data[digits++] - '0');
    const char *unit = digits + 1 == text.length ? memchr(units, text.data[digits], sizeof units - 1) : NULL;
    if (digits == 0 || digits > 8 || unit == NULL)
        return error_new(KITH_ERROR_PROTOCOL, "\"%.*s\" is not a grpc-timeout", (int)MIN(text.length, (size_t)32),
                         text.data);
    if (__builtin_mul_overflow(value, unit_ns[unit - units], out_ns))
        *out_ns = INT64_MAX;
    return NULL;
}
