/*
 * A growable array of any type: `VEC(struct field) fields = {0};`. Elements are moved by memcpy when
 * the array grows, so pointers into it do not survive a push.
 */
#ifndef KITH_BASE_VEC_H
#define KITH_BASE_VEC_H

#include "base/alloc.h"

#define VEC(type)        \
    struct {             \
        type *items;     \
        size_t length;   \
        size_t capacity; \
    }

kith_error *vec_grow(void *in_out_items, size_t *capacity, size_t needed, size_t item_size) _must_check_;

/* Room for `extra` more elements. */
#define vec_reserve(vec, extra)                 \
    ((vec)->length + (extra) <= (vec)->capacity \
         ? NULL                                 \
         : vec_grow(&(vec)->items, &(vec)->capacity, (vec)->length + (extra), sizeof *(vec)->items))

/* An expression of type kith_error *: appends a copy of `value`. */
#define vec_push(vec, value)                            \
    __extension__({                                     \
        kith_error *vec_error_ = vec_reserve((vec), 1); \
        if (vec_error_ == NULL)                         \
            (vec)->items[(vec)->length++] = (value);    \
        vec_error_;                                     \
    })

#define vec_pop(vec) ((vec)->items[--(vec)->length])

/* Frees the array, not what its elements own. */
#define vec_reset(vec)                       \
    do {                                     \
        free((vec)->items);                  \
        (vec)->items = NULL;                 \
        (vec)->length = (vec)->capacity = 0; \
    } while (0)

#endif
