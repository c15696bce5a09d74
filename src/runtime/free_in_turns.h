/*
 * Giving back large memory. Unmapping a gigabyte takes the system a tenth of a second, for which free() would keep its
 * thread.
 */
#ifndef KITH_RUNTIME_FREE_IN_TURNS_H
#define KITH_RUNTIME_FREE_IN_TURNS_H

/* free(), which gives way to other fibers in between, whether or not the running one is cancelled. From a fiber or not.
 */
void free_in_turns(void *take_memory);

#endif
