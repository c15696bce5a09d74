/*
 * Attributes and small macros that every file may rely on: cleanup of owned locals, hand-over, checked
 * results, and the one way to abort (a broken invariant of our own, never an input).
 */
#ifndef KITH_BASE_MACROS_H
#define KITH_BASE_MACROS_H

#include <stddef.h>
#include <stdint.h>

#define _cleanup_(function) __attribute__((cleanup(function##_pointee)))
#define _must_check_        __attribute__((warn_unused_result))
#define _printf_(f, a)      __attribute__((format(printf, f, a)))
#define _noreturn_          __attribute__((noreturn))
#define _unlikely_(x)       __builtin_expect(!!(x), 0)
#define _likely_(x)         __builtin_expect(!!(x), 1)

/* On functions that make an error: their callers always fail. clang's analyser overlooks returns_nonnull and would
 * follow callers that go on without a result, so for it these calls end the path. */
#ifdef __clang_analyzer__
#define _never_null_ __attribute__((returns_nonnull, analyzer_noreturn))
#else
#define _never_null_ __attribute__((returns_nonnull))
#endif

/* Every function that frees or drops a reference accepts NULL and does nothing.
 * Gives `_cleanup_(function)` for a local of type `type *`: calls `function` at scope end unless NULL. */
#define DEFINE_CLEANUP(function, type)                  \
    static inline void function##_pointee(type **local) \
    {                                                   \
        if (*local != NULL)                             \
            function(*local);                           \
    }

/* The same for a struct that lives in the local itself: `_cleanup_(strbuf_reset) struct strbuf b = {0};` */
#define DEFINE_VALUE_CLEANUP(function, type)           \
    static inline void function##_pointee(type *local) \
    {                                                  \
        function(local);                               \
    }

/* Hands an owned local over: yields its value and leaves NULL behind. */
#define TAKE(pointer)                        \
    __extension__({                          \
        __auto_type take_value_ = (pointer); \
        (pointer) = NULL;                    \
        take_value_;                         \
    })

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* Each use has names of its own, so that uses nest without shadowing. */
#define MIN(a, b)            MIN_NAMED_(a, b, __COUNTER__)
#define MAX(a, b)            MAX_NAMED_(a, b, __COUNTER__)
#define MIN_NAMED_(a, b, id) PICK_(a, b, <, id)
#define MAX_NAMED_(a, b, id) PICK_(a, b, >, id)
#define PICK_(a, b, operator, id)                                     \
    __extension__({                                                   \
        __auto_type pick_a_##id = (a);                                \
        __auto_type pick_b_##id = (b);                                \
        pick_a_##id operator pick_b_##id ? pick_a_##id : pick_b_##id; \
    })

#define CONTAINER_OF(pointer, type, member) ((type *)((uintptr_t)(pointer)-offsetof(type, member)))

/* Aborts with the place and the broken invariant. Stays in release builds: a wrong answer is worse. */
#define ASSERT(condition)                          \
    do {                                           \
        if (_unlikely_(!(condition)))              \
            panic(__FILE__, __LINE__, #condition); \
    } while (0)

#define UNREACHABLE() panic(__FILE__, __LINE__, "unreachable")

void panic(const char *file, int line, const char *what) _noreturn_;

#endif
