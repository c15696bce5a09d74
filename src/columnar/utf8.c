#include "columnar/utf8.h"

#include "runtime/coop.h"

#include <string.h>

/* Bytes of the well-formed character at `at`, which is not ASCII; 0 if there is none within `length`. */
static size_t character_length(const uint8_t *at, size_t length)
{
    uint8_t lead = at[0];
    size_t count = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || count > length)
        return 0;
    for (size_t i = 1; i < count; i++)
        if (!utf8_is_continuation(at[i]))
            return 0;
    uint8_t least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    return at[1] >= least && at[1] <= most ? count : 0;
}

bool utf8_is_valid(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    while (length > 0) {
        uint64_t word;
        if (length >= sizeof word) {
            memcpy(&word, at, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof word;
                length -= sizeof word;
                continue;
            }
        }
        size_t count = *at < 0x80 ? 1 : character_length(at, length);
        if (count == 0)
            return false;
        at += count;
        length -= count;
    }
    return true;
}

/* Where bytes may be cut: not within a character, as far as they are text at all. */
static size_t cut_before(const uint8_t *bytes, size_t at)
{
    enum { MOST_CONTINUATIONS = 3 };
    for (size_t back = 0; back < MOST_CONTINUATIONS && utf8_is_continuation(bytes[at]); back++)
        at--;
    return at;
}

kith_error *utf8_check(const void *bytes, size_t length, size_t *uncharged, bool *valid)
{
    const uint8_t *at = bytes;
    *valid = true;
    while (*valid && length > COOP_CHUNK_BYTES) {
        size_t chunk = cut_before(at, COOP_CHUNK_BYTES);
        *valid = utf8_is_valid(at, chunk);
        at += chunk;
        length -= chunk;
        TRY(coop_charge_bytes(uncharged, chunk));
    }
    *valid = *valid && utf8_is_valid(at, length);
    return coop_charge_bytes(uncharged, length);
}
