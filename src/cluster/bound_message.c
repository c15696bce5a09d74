#include "cluster/bound_message.h"

#include "base/limits.h"

#include <inttypes.h>

static kith_error *wrong_type(const struct bound_message *message, size_t i, const struct data_type *expected)
{
    char given_text[160], expected_text[160];
    return error_new(KITH_ERROR_PROTOCOL, "value %zu of a bound of dynamic filter %" PRIu64 " is of type %s, not %s",
                     i + 1, message->filter_id, type_format(&message->values[i].type, given_text, sizeof given_text),
                     type_format(expected, expected_text, sizeof expected_text));
}

kith_error *bound_from_message(const struct bound_message *message, const struct sort_expr *exprs, size_t count,
                               int64_t found_ns, struct bound **out)
{
    struct sort_order orders[LIMIT_SORT_KEYS];
    if (message->value_count != count || count > LIMIT_SORT_KEYS)
        return error_new(KITH_ERROR_PROTOCOL, "a bound of dynamic filter %" PRIu64 " has %zu values, expected %zu",
                         message->filter_id, message->value_count, count);
    for (size_t i = 0; i < count; i++) {
        orders[i] = exprs[i].order;
        if (!type_equal(&message->values[i].type, &exprs[i].expr->type))
            return wrong_type(message, i, &exprs[i].expr->type);
    }
    return bound_new(message->values, orders, count, found_ns, out);
}

void bound_ranks_unref(struct bound_rank *ranks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bound_unref(ranks[i].bound);
}

static kith_error *rank_from_message(const struct ranks_message *message, size_t i, const struct sort_expr *exprs,
                                     size_t count, struct bound_rank *ranks)
{
    const struct bound_message bound = {
        .filter_id = message->filter_id, .value_count = message->value_count, .values = message->ranks[i].values};
    ranks[i].rows = message->ranks[i].rows;
    TRY(bound_from_message(&bound, exprs, count, 0, &ranks[i].bound));
    if (i == 0 || bound_compare(ranks[i - 1].bound, ranks[i].bound) < 0)
        return NULL;
    bound_unref(ranks[i].bound);
    return error_new(KITH_ERROR_PROTOCOL, "rank %zu of dynamic filter %" PRIu64 " is no worse than the one before",
                     i + 1, message->filter_id);
}

kith_error *ranks_from_message(const struct ranks_message *message, const struct sort_expr *exprs, size_t count,
                               struct bound_rank *ranks)
{
    for (size_t i = 0; i < message->rank_count; i++) {
        kith_error *error = rank_from_message(message, i, exprs, count, ranks);
        if (error == NULL)
            continue;
        bound_ranks_unref(ranks, i);
        return error;
    }
    return NULL;
}

struct bound_message bound_to_message(uint64_t filter_id, const struct bound *bound, int64_t found_unix_ns)
{
    return (struct bound_message){.filter_id = filter_id,
                                  .value_count = bound->value_count,
                                  .values = bound->values,
                                  .found_unix_ns = found_unix_ns};
}

int64_t wall_time_of(const struct clock *clock, int64_t monotonic_ns)
{
    return clock->wall_ns(clock) - (clock_monotonic_ns(clock) - monotonic_ns);
}
