/*
 * Waiting for file descriptors (epoll, polled by the workers), and calls that block (a pool of threads).
 */
#ifndef KITH_RUNTIME_IO_H
#define KITH_RUNTIME_IO_H

#include "base/error.h"
#include "runtime/fiber_errno.h"

#include <stdint.h>
#include <sys/types.h>

enum io_interest { IO_READABLE = 1, IO_WRITABLE = 2 };

/* Suspends until the descriptor (non-blocking) has one of `interests` or an error; *ready says which. At most one
 * fiber waits for readable and one for writable on a descriptor at a time. TIMEOUT and CANCELLED as in sync.h. */
kith_error *io_wait(int fd, unsigned interests, int64_t deadline_ns, unsigned *ready) _must_check_;

/* Must be called before a descriptor that was ever waited for is closed. */
void io_forget(int fd);

/* Runs `function(argument)` on a thread that may block, and suspends until it returns. Not cancelled in the middle: a
 * cancelled fiber still waits for the call to return, so use it for calls that end soon. Outside a fiber it calls
 * directly. */
kith_error *offload(kith_error *(*function)(void *argument), void *argument) _must_check_;

/* Reads exactly `length` bytes at `offset`; a short file is CORRUPT. Tries without blocking first (RWF_NOWAIT: data
 * in the page cache), and offloads only when that would block. `name` is for the error. */
kith_error *file_read(int fd, const char *name, void *out, size_t length, int64_t offset) _must_check_;

#endif
