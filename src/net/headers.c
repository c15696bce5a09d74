#include "net/headers.h"

#include "base/limits.h"

enum { FIELD_OVERHEAD = 32 };

kith_error *headers_add(struct headers *headers, struct str name, struct str value)
{
    size_t limit = headers->limit == 0 ? LIMIT_GRPC_HEADER_BYTES : headers->limit;
    size_t size = name.length + value.length + FIELD_OVERHEAD;
    if (size > limit || headers->size > limit - size)
        return error_new(KITH_ERROR_LIMIT, "headers are larger than %zu bytes (limit GRPC_HEADER_BYTES)", limit);

    TRY(vec_reserve(&headers->spans, 1));
    char *at;
    TRY(strbuf_reserve(&headers->text, name.length + value.length, &at));
    struct header_span span = {
        .name = headers->text.length,
        .name_length = name.length,
        .value = headers->text.length + name.length,
        .value_length = value.length,
    };
    TRY(strbuf_append(&headers->text, name.data, name.length));
    TRY(strbuf_append(&headers->text, value.data, value.length));
    headers->spans.items[headers->spans.length++] = span;
    headers->size += size;
    return NULL;
}

kith_error *headers_add_text(struct headers *headers, const char *name, const char *value)
{
    return headers_add(headers, str_of(name), str_of(value));
}

kith_error *headers_append(struct headers *headers, const struct headers *other)
{
    for (size_t i = 0; i < other->spans.length; i++)
        TRY(headers_add(headers, headers_name(other, i), headers_value(other, i)));
    return NULL;
}

struct str headers_name(const struct headers *headers, size_t i)
{
    const struct header_span *span = &headers->spans.items[i];
    return (struct str){strbuf_text(&headers->text) + span->name, span->name_length};
}

struct str headers_value(const struct headers *headers, size_t i)
{
    const struct header_span *span = &headers->spans.items[i];
    return (struct str){strbuf_text(&headers->text) + span->value, span->value_length};
}

bool headers_find(const struct headers *headers, const char *name, struct str *out_value)
{
    for (size_t i = 0; i < headers->spans.length; i++) {
        if (!str_equal(headers_name(headers, i), str_of(name)))
            continue;
        *out_value = headers_value(headers, i);
        return true;
    }
    return false;
}

void headers_reset(struct headers *headers)
{
    vec_reset(&headers->spans);
    strbuf_reset(&headers->text);
    headers->size = 0;
}
