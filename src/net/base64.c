#include "net/base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

kith_error *base64_encode(struct str bytes, struct strbuf *out)
{
    size_t whole = bytes.length / 3;
    size_t rest = bytes.length % 3;
    size_t length = whole * 4 + (rest == 0 ? 0 : rest + 1);
    char *to;
    TRY(strbuf_reserve(out, length, &to));
    for (size_t i = 0; i < bytes.length; i += 3) {
        uint32_t group = 0;
        for (size_t j = 0; j < 3; j++)
            group = group << 8 | (i + j < bytes.length ? (uint8_t)bytes.data[i + j] : 0);
        size_t digits = MIN(bytes.length - i, (size_t)3) + 1;
        for (size_t j = 0; j < digits; j++)
            *to++ = alphabet[group >> (18 - 6 * j) & 63];
    }
    out->length += length;
    out->data[out->length] = '\0';
    return NULL;
}

static int digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

kith_error *base64_decode(struct str text, struct strbuf *out)
{
    size_t length = text.length;
    while (length > 0 && text.length - length < 2 && text.data[length - 1] == '=')
        length--;
    if (length % 4 == 1)
        return error_new(KITH_ERROR_PROTOCOL, "%zu characters of base64 stand for no whole number of bytes", length);
    char *to;
    TRY(strbuf_reserve(out, length * 3 / 4, &to));
    uint32_t bits = 0;
    unsigned bit_count = 0;
    for (size_t i = 0; i < length; i++) {
        int value = digit_value(text.data[i]);
        if (value < 0)
            return error_new(KITH_ERROR_PROTOCOL, "character %zu of base64 text is not one of its alphabet", i + 1);
        bits = (bits << 6 | (uint32_t)value) & 0xFFFFFF;
        bit_count += 6;
        if (bit_count < 8)
            continue;
        bit_count -= 8;
        *to++ = (char)(bits >> bit_count & 0xFF);
    }
    out->length += length * 3 / 4;
    out->data[out->length] = '\0';
    return NULL;
}
