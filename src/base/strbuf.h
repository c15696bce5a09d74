/*
 * Text and bytes: a borrowed view (`struct str`) and a growable buffer with a maximum (`struct strbuf`).
 */
#ifndef KITH_BASE_STRBUF_H
#define KITH_BASE_STRBUF_H

#include "base/error.h"

#include <string.h>

/* Borrowed, not NUL-terminated. */
struct str {
    const char *data;
    size_t length;
};

static inline struct str str_of(const char *text)
{
    return (struct str){text, strlen(text)};
}

static inline bool str_equal(struct str a, struct str b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* Bytewise, the shorter of equal prefixes first; <0, 0, >0. */
int str_compare(struct str a, struct str b);

/* Edit distance (insertions, deletions, substitutions; ASCII case ignored), capped at `limit`. */
size_t str_distance(struct str a, struct str b, size_t limit);

/* The one of `candidates` that is close enough to `given` to be worth proposing, or NULL. */
const char *str_nearest(const char *given, const char *const *candidates, size_t count);

/* Zero-initialised is empty and ready; `data` is NUL-terminated whenever it is not NULL. */
struct strbuf {
    char *data;
    size_t length;
    size_t capacity;
    size_t limit; /* 0 = none; growing past it is a LIMIT error */
};

kith_error *strbuf_append(struct strbuf *buffer, const void *data, size_t length) _must_check_;
kith_error *strbuf_append_text(struct strbuf *buffer, const char *text) _must_check_;
kith_error *strbuf_append_fill(struct strbuf *buffer, char c, size_t count) _must_check_;
kith_error *strbuf_printf(struct strbuf *buffer, const char *format, ...) _printf_(2, 3) _must_check_;
/* Room for `extra` more bytes; *out points at the first of them; length is unchanged. */
kith_error *strbuf_reserve(struct strbuf *buffer, size_t extra, char **out) _must_check_;
/* Never NULL: "" while nothing was appended. */
const char *strbuf_text(const struct strbuf *buffer);
/* Hands the bytes over (free()); the buffer is empty again. */
char *strbuf_take(struct strbuf *buffer);
void strbuf_reset(struct strbuf *buffer);
DEFINE_VALUE_CLEANUP(strbuf_reset, struct strbuf)

#endif
