/*
 * The first place of a part in a text, for the short texts of columns: candidates by first byte cost less than the
 * preparation that memmem makes for every call. After a few candidates that fail, memmem takes over, whose time is
 * linear in the worst case.
 */
#ifndef KITH_COMPUTE_TEXT_FIND_H
#define KITH_COMPUTE_TEXT_FIND_H

#include "base/strbuf.h"

/* NULL when the part is not in the text; the text's beginning for an empty part. */
static inline const char *text_find(struct str text, struct str part)
{
    enum { CANDIDATES = 8 };
    if (part.length == 0)
        return text.data;
    for (int i = 0; i < CANDIDATES; i++) {
        if (text.length < part.length)
            return NULL;
        const char *candidate = (const char *)memchr(text.data, part.data[0], text.length - part.length + 1);
        if (candidate == NULL || memcmp(candidate, part.data, part.length) == 0)
            return candidate;
        text.length -= (size_t)(candidate + 1 - text.data);
        text.data = candidate + 1;
    }
    return (const char *)memmem(text.data, text.length, part.data, part.length);
}

#endif
