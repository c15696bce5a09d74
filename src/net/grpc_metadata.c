#include "net/base64.h"
#include "net/grpc_internal.h"

static bool is_binary(struct str name)
{
    return name.length > 4 && memcmp(name.data + name.length - 4, "-bin", 4) == 0;
}

static bool starts_with(struct str text, const char *prefix)
{
    size_t length = strlen(prefix);
    return text.length >= length && memcmp(text.data, prefix, length) == 0;
}

static bool is_reserved(struct str name)
{
    static const char *const own[] = {"te", "content-type", "user-agent", "kith-error-bin"};
    for (size_t i = 0; i < ARRAY_SIZE(own); i++)
        if (str_equal(name, str_of(own[i])))
            return true;
    return starts_with(name, "grpc-") || starts_with(name, ":");
}

static kith_error *check_field(struct str name, struct str value)
{
    bool good = name.length > 0 && !is_reserved(name);
    for (size_t i = 0; i < name.length && good; i++) {
        char c = name.data[i];
        good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    }
    if (!good)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "\"%.*s\" cannot be the name of gRPC metadata", (int)name.length,
                         name.data);
    if (is_binary(name))
        return NULL;
    for (size_t i = 0; i < value.length; i++)
        if (value.data[i] < 0x20 || value.data[i] > 0x7E)
            return error_new(KITH_ERROR_INVALID_ARGUMENT,
                             "the value of gRPC metadata \"%.*s\" is not printable ASCII, which only names ending in "
                             "-bin may have",
                             (int)name.length, name.data);
    return NULL;
}

kith_error *grpc_metadata_write(const struct headers *metadata, struct headers *fields)
{
    for (size_t i = 0; metadata != NULL && i < metadata->spans.length; i++) {
        struct str name = headers_name(metadata, i);
        struct str value = headers_value(metadata, i);
        TRY(check_field(name, value));
        _cleanup_(strbuf_reset) struct strbuf text = {0};
        if (is_binary(name)) {
            TRY(base64_encode(value, &text));
            value = (struct str){strbuf_text(&text), text.length};
        }
        TRY(headers_add(fields, name, value));
    }
    return NULL;
}

kith_error *grpc_metadata_read(const struct headers *fields, struct headers *metadata)
{
    for (size_t i = 0; i < fields->spans.length; i++) {
        struct str name = headers_name(fields, i);
        struct str value = headers_value(fields, i);
        if (is_reserved(name) && !str_equal(name, str_of("user-agent")))
            continue;
        _cleanup_(strbuf_reset) struct strbuf bytes = {0};
        if (is_binary(name)) {
            TRY(base64_decode(value, &bytes));
            value = (struct str){strbuf_text(&bytes), bytes.length};
        }
        TRY(headers_add(metadata, name, value));
    }
    return NULL;
}

kith_error *grpc_check_content(const struct headers *fields, const char *peer)
{
    struct str value;
    if (!headers_find(fields, "content-type", &value))
        return error_new(KITH_ERROR_PROTOCOL, "%s sent no content-type, expected application/grpc", peer);
    /* "application/grpc", "application/grpc+proto", but not "application/grpc-web". */
    static const char wanted[] = "application/grpc";
    char after = value.length > sizeof wanted - 1 ? value.data[sizeof wanted - 1] : ';';
    if (!starts_with(value, wanted) || (after != ';' && after != '+'))
        return error_new(KITH_ERROR_PROTOCOL, "%s sent content-type \"%.*s\", expected application/grpc", peer,
                         (int)MIN(value.length, (size_t)64), value.data);
    if (headers_find(fields, "grpc-encoding", &value) && !str_equal(value, str_of("identity")))
        return error_new(KITH_ERROR_NOT_IMPLEMENTED,
                         "%s compresses messages with grpc-encoding \"%.*s\", only identity is supported", peer,
                         (int)MIN(value.length, (size_t)64), value.data);
    return NULL;
}
