/*
 * errno for code that runs in fibers. The C library declares the function behind errno as one whose result never
 * changes, so a compiler may call it once for a whole function; after a wait that is another thread's errno. Here errno
 * is found anew each time. Included by every header that has a function that waits, so nobody has to think of it.
 */
#ifndef KITH_RUNTIME_FIBER_ERRNO_H
#define KITH_RUNTIME_FIBER_ERRNO_H

#include <errno.h>

/* Where the current thread's errno is. */
int *fiber_errno_location(void);

#undef errno
#define errno (*fiber_errno_location())

#endif
