#include "compute/compare_loops.h"
#include "compute/text_reader.h"

static bool holds(enum compare_relation relation, struct str a, struct str b)
{
    switch (relation) {
    case RELATION_EQ:
        return str_equal(a, b);
    case RELATION_LT:
        return str_compare(a, b) < 0;
    case RELATION_LE:
        return str_compare(a, b) <= 0;
    }
    UNREACHABLE();
}

void compare_loop_text(enum compare_relation relation, const struct compare_input *left,
                       const struct compare_input *right, const uint32_t *rows, size_t first, size_t count,
                       uint8_t *out)
{
    const struct text_reader *a = left->data, *b = right->data;
    for (size_t k = 0; k < count; k++) {
        size_t row = rows != NULL ? rows[k] : first + k;
        out[k] = holds(relation, text_at(a, row * left->step), text_at(b, row * right->step));
    }
}
