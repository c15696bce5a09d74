/*
 * How long sort keys take: nanoseconds a row for one column of each of a few types and for two columns, over batches of
 * 8192 rows, all of them or every other one selected. Prints the best of several runs.
 *
 *     usage: build/bench/sort_key
 */
#include "columnar/sort_key.h"
#include "base/clock.h"
#include "columnar/builder.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8192, REPEATS = 50, RUNS = 200 };

static void must(kith_error *error)
{
    if (error == NULL)
        return;
    fprintf(stderr, "%s\n", kith_error_message(error));
    exit(1);
}

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static struct array *random_column(enum type_id id, unsigned nulls_in_100)
{
    struct array_builder *builder = NULL;
    struct array *array = NULL;
    struct data_type type = type_of(id);
    uint64_t random = 1;
    must(array_builder_new(&type, &builder));
    for (size_t i = 0; i < ROWS; i++) {
        char text[32];
        uint64_t r = next_random(&random);
        if (next_random(&random) % 100 < nulls_in_100)
            must(array_builder_append_null(builder));
        else if (type_is_string(id))
            must(array_builder_append_string(
                builder,
                (struct str){text, (size_t)snprintf(text, sizeof text, "Customer#%09u", (unsigned)(r % 1000000))}));
        else if (id == TYPE_FLOAT64)
            must(array_builder_append_double(builder, (double)(int64_t)r));
        else
            must(array_builder_append_int(builder, id == TYPE_DATE32 ? (int64_t)(r % 10000) : (int64_t)r));
    }
    must(array_builder_finish(builder, &array));
    array_builder_free(builder);
    return array;
}

static double best_time(struct array *const *columns, size_t count, const struct selection *selection)
{
    const struct sort_order orders[] = {{.descending = true}, {.descending = false}};
    struct sort_keys keys = {0};
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        int64_t start = clock_monotonic_ns(&system_clock);
        for (int i = 0; i < REPEATS; i++)
            must(sort_keys_encode(&keys, columns, orders, count, ROWS, selection));
        double taken = (double)(clock_monotonic_ns(&system_clock) - start) / ((double)REPEATS * (double)keys.count);
        best = taken < best ? taken : best;
    }
    sort_keys_reset(&keys);
    return best;
}

int main(void)
{
    const struct {
        const char *name;
        enum type_id first, second; /* TYPE_NULL = none */
        unsigned nulls_in_100;
    } cases[] = {
        {"int64", TYPE_INT64, TYPE_NULL, 0},           {"int64, 10 % NULL", TYPE_INT64, TYPE_NULL, 10},
        {"float64", TYPE_FLOAT64, TYPE_NULL, 0},       {"date32", TYPE_DATE32, TYPE_NULL, 0},
        {"int64, date32", TYPE_INT64, TYPE_DATE32, 0}, {"utf8 of 18 bytes", TYPE_UTF8, TYPE_NULL, 0},
        {"utf8, int64", TYPE_UTF8, TYPE_INT64, 0},
    };
    struct selection *selection = NULL;
    must(selection_new(ROWS, &selection));
    for (uint32_t i = 0; i < ROWS; i += 2)
        selection->rows[selection->count++] = i;
    printf("%-20s %12s %12s\n", "ns a row", "all rows", "every other");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct array *columns[] = {random_column(cases[i].first, cases[i].nulls_in_100),
                                   random_column(cases[i].second, 0)};
        size_t count = cases[i].second == TYPE_NULL ? 1 : 2;
        printf("%-20s %12.2f %12.2f\n", cases[i].name, best_time(columns, count, NULL),
               best_time(columns, count, selection));
        array_unref(columns[0]);
        array_unref(columns[1]);
    }
    selection_unref(selection);
    return 0;
}
