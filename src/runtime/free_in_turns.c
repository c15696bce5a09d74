#include "runtime/free_in_turns.h"

#include "runtime/coop.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* About a tenth of a millisecond's work for the system. */
enum { AT_ONCE = 4 << 20 };

void free_in_turns(void *take_memory)
{
    size_t bytes = malloc_usable_size(take_memory);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = ((uintptr_t)take_memory + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)take_memory + bytes) / page * page;
    /* The pages between malloc's own words: their content is not needed any more, and malloc does not look at it. */
    for (; bytes > AT_ONCE && at < end; at += AT_ONCE) {
        if (madvise((void *)at, end - at < AT_ONCE ? end - at : AT_ONCE, MADV_DONTNEED) != 0)
            break; /* then free() does it all */
        coop_give_way(1);
    }
    free(take_memory);
}
