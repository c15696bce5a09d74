/*
 * Tells AddressSanitizer, ThreadSanitizer and valgrind about fibers' stacks and the switches between them; without a
 * sanitizer all of it compiles to nothing (valgrind's requests to a few instructions that do nothing).
 *
 * Each context, a fiber's or a worker thread's own, has a struct annotation. The functions around a switch must be
 * inlined: a call entered under one context and left under another would upset ThreadSanitizer's shadow stack.
 */
#ifndef KITH_RUNTIME_FIBER_ANNOTATIONS_H
#define KITH_RUNTIME_FIBER_ANNOTATIONS_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN 1
#endif

#if defined(FIBER_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(HAVE_VALGRIND)
#include <valgrind/valgrind.h>
#endif

/* Instrumented frames are several times larger. */
#if defined(FIBER_ASAN) || defined(FIBER_TSAN)
enum { STACK_SIZE_FACTOR = 4 };
#else
enum { STACK_SIZE_FACTOR = 1 };
#endif

struct annotation {
    const void *stack_bottom; /* of a thread: known once it has been switched away from */
    size_t stack_size;
    void *fake_stack;   /* AddressSanitizer's, of a context that is not running */
    void *tsan_context; /* ThreadSanitizer's */
};

static inline void annotation_init_thread(struct annotation *annotation)
{
#if defined(FIBER_TSAN)
    annotation->tsan_context = __tsan_get_current_fiber();
#endif
}

static inline void annotation_init_fiber(struct annotation *annotation, const void *stack_bottom, size_t stack_size)
{
    annotation->stack_bottom = stack_bottom;
    annotation->stack_size = stack_size;
#if defined(FIBER_TSAN)
    annotation->tsan_context = __tsan_create_fiber(0);
#endif
}

/* Of a fiber that has ended and was switched away from. */
static inline void annotation_destroy_fiber(struct annotation *annotation)
{
#if defined(FIBER_TSAN)
    __tsan_destroy_fiber(annotation->tsan_context);
#endif
#if defined(FIBER_ASAN)
    /* The frames that never returned leave poison behind, and the stack is used again. */
    ASAN_UNPOISON_MEMORY_REGION(annotation->stack_bottom, annotation->stack_size);
#endif
}

/* Right before context_switch; `from_ends` when `from` will never be continued. */
static inline __attribute__((always_inline)) void annotation_before_switch(struct annotation *from, int from_ends,
                                                                           struct annotation *to)
{
#if defined(FIBER_ASAN)
    __sanitizer_start_switch_fiber(from_ends ? NULL : &from->fake_stack, to->stack_bottom, to->stack_size);
#endif
#if defined(FIBER_TSAN)
    __tsan_switch_to_fiber(to->tsan_context, 0);
#endif
}

/* Right after arriving: `self` runs now, `previous` was switched away from. */
static inline __attribute__((always_inline)) void annotation_after_switch(struct annotation *self,
                                                                          struct annotation *previous)
{
#if defined(FIBER_ASAN)
    __sanitizer_finish_switch_fiber(self->fake_stack, &previous->stack_bottom, &previous->stack_size);
#endif
}

/* Valgrind's number for a stack that starts at `bottom`. */
static inline unsigned annotation_register_stack(void *bottom, size_t size)
{
#if defined(HAVE_VALGRIND)
    return VALGRIND_STACK_REGISTER(bottom, (char *)bottom + size);
#else
    return 0;
#endif
}

static inline void annotation_deregister_stack(unsigned number)
{
#if defined(HAVE_VALGRIND)
    VALGRIND_STACK_DEREGISTER(number);
#endif
}

#endif
