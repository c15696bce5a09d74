/*
 * The machine's part of a fiber: saving one stack's registers and loading another's. Written in assembly for each
 * processor (context_*.S); nothing here knows of fibers, threads or sanitizers (fiber_annotations.h).
 *
 * Saved are the registers that the C calling convention lets a callee rely on, and the floating-point control words;
 * the caller of context_switch saves the rest, as for any call. The signal mask is not part of a context.
 */
#ifndef KITH_RUNTIME_CONTEXT_H
#define KITH_RUNTIME_CONTEXT_H

#include <stddef.h>

/* Lays out the first frame on an empty stack that ends at `top` (exclusive). Switching to the returned stack pointer
 * calls `function(argument)`, which must never return. */
void *context_prepare(void *top, void (*function)(void *argument), void *argument);

/* Saves the running context, with its stack pointer in *save, and continues the one saved as `load`. Returns when
 * something switches back to *save, possibly on another thread. */
void context_switch(void **save, void *load);

#endif
