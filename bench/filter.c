/*
 * Processor time a row of the kernels that filters and projections spend their time in, over batches of 8192 rows that
 * stay in the cache. usage: filter [ROWS-IN-MILLIONS]
 */
#include "compute/filter.h"
#include "base/alloc.h"
#include "columnar/scalar.h"
#include "compute/arithmetic.h"
#include "compute/compare.h"
#include "compute/in_list.h"
#include "compute/like.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH_ROWS = 8192, TEXT_BYTES = 24 };

/* Of this process, which has one thread: other programs on the machine disturb it less than a wall clock. */
static double processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

struct inputs {
    struct array *numbers, *others, *decimals, *wide, *texts;
    struct in_set *set;
    struct like_pattern *contains, *general;
    struct selection *tenth;
};

static kith_error *random_numbers(struct data_type type, uint64_t seed, struct array **out)
{
    TRY(kernel_new_result(&type, BATCH_ROWS, out));
    int64_t *values = (int64_t *)(void *)(*out)->values->data;
    for (size_t i = 0; i < BATCH_ROWS; i++)
        values[i] = (int64_t)(next_random(&seed) % 1000);
    return NULL;
}

static kith_error *random_texts(struct array **out)
{
    struct data_type type = type_of(TYPE_UTF8);
    uint64_t seed = 3;
    TRY(array_new(&type, BATCH_ROWS, out));
    TRY(buffer_new((BATCH_ROWS + 1) * sizeof(int32_t), &(*out)->offsets));
    TRY(buffer_new((size_t)BATCH_ROWS * TEXT_BYTES, &(*out)->data));
    int32_t *offsets = (int32_t *)(void *)(*out)->offsets->data;
    for (int32_t i = 0; i <= BATCH_ROWS; i++)
        offsets[i] = i * TEXT_BYTES;
    for (size_t i = 0; i < (*out)->data->size; i++)
        (*out)->data->data[i] = (uint8_t)('a' + next_random(&seed) % 26);
    return NULL;
}

static kith_error *prepare(struct inputs *inputs)
{
    struct data_type integer = type_of(TYPE_INT64);
    struct scalar list[20];
    TRY(random_numbers(integer, 1, &inputs->numbers));
    TRY(random_numbers(integer, 2, &inputs->others));
    TRY(random_numbers(type_decimal(15, 2), 4, &inputs->decimals));
    TRY(random_texts(&inputs->texts));
    struct datum decimals = datum_of(inputs->decimals);
    TRY(arithmetic_run(ARITHMETIC_MULTIPLY, &decimals, &decimals, BATCH_ROWS, NULL, &inputs->wide));
    for (size_t i = 0; i < ARRAY_SIZE(list); i++)
        list[i] = (struct scalar){.type = integer, .int64 = (int64_t)i * 50};
    TRY(in_set_new(&integer, list, ARRAY_SIZE(list), &inputs->set));
    TRY(like_compile(str_of("%abc%"), false, &inputs->contains));
    TRY(like_compile(str_of("%a_c%e%"), false, &inputs->general));
    TRY(selection_new(BATCH_ROWS, &inputs->tenth));
    for (uint32_t row = 0; row < BATCH_ROWS; row += 10)
        inputs->tenth->rows[inputs->tenth->count++] = row;
    return NULL;
}

static kith_error *select_below(const struct inputs *inputs, int64_t limit, const struct selection *selection)
{
    struct scalar scalar = {.type = type_of(TYPE_INT64), .int64 = limit};
    _cleanup_(array_unref) struct array *constant = NULL;
    _cleanup_(selection_unref) struct selection *selected = NULL;
    TRY(scalar_to_array(&scalar, 1, &constant));
    struct datum left = datum_of(inputs->numbers), right = {.array = constant, .constant = true};
    return compare_select(COMPARE_LT, &left, &right, BATCH_ROWS, selection, &selected);
}

static kith_error *select_1_percent(const struct inputs *inputs)
{
    return select_below(inputs, 10, NULL);
}

static kith_error *select_50_percent(const struct inputs *inputs)
{
    return select_below(inputs, 500, NULL);
}

static kith_error *select_99_percent(const struct inputs *inputs)
{
    return select_below(inputs, 990, NULL);
}

static kith_error *select_from_tenth(const struct inputs *inputs)
{
    return select_below(inputs, 500, inputs->tenth);
}

static kith_error *compare_columns(const struct inputs *inputs)
{
    _cleanup_(array_unref) struct array *result = NULL;
    struct datum left = datum_of(inputs->numbers), right = datum_of(inputs->others);
    return compare_run(COMPARE_LE, &left, &right, BATCH_ROWS, NULL, &result);
}

static kith_error *compare_texts(const struct inputs *inputs)
{
    struct scalar scalar = {.type = type_of(TYPE_UTF8), .string = str_of("mmmm")};
    _cleanup_(array_unref) struct array *constant = NULL, *result = NULL;
    TRY(scalar_to_array(&scalar, 1, &constant));
    struct datum left = datum_of(inputs->texts), right = {.array = constant, .constant = true};
    return compare_run(COMPARE_LT, &left, &right, BATCH_ROWS, NULL, &result);
}

static kith_error *run_arithmetic(enum arithmetic_operator operation, struct array *left, struct array *right)
{
    _cleanup_(array_unref) struct array *result = NULL;
    struct datum a = datum_of(left), b = datum_of(right);
    return arithmetic_run(operation, &a, &b, BATCH_ROWS, NULL, &result);
}

static kith_error *add_integers(const struct inputs *inputs)
{
    return run_arithmetic(ARITHMETIC_ADD, inputs->numbers, inputs->others);
}

static kith_error *multiply_integers(const struct inputs *inputs)
{
    return run_arithmetic(ARITHMETIC_MULTIPLY, inputs->numbers, inputs->others);
}

static kith_error *multiply_decimals(const struct inputs *inputs)
{
    return run_arithmetic(ARITHMETIC_MULTIPLY, inputs->decimals, inputs->decimals);
}

static kith_error *subtract_decimals(const struct inputs *inputs)
{
    return run_arithmetic(ARITHMETIC_SUBTRACT, inputs->decimals, inputs->decimals);
}

static kith_error *multiply_wide_decimals(const struct inputs *inputs)
{
    return run_arithmetic(ARITHMETIC_MULTIPLY, inputs->wide, inputs->decimals);
}

static kith_error *find_in_list(const struct inputs *inputs)
{
    _cleanup_(array_unref) struct array *result = NULL;
    struct datum values = datum_of(inputs->numbers);
    return in_set_run(inputs->set, &values, false, BATCH_ROWS, NULL, &result);
}

static kith_error *like_contains(const struct inputs *inputs)
{
    _cleanup_(array_unref) struct array *result = NULL;
    struct datum texts = datum_of(inputs->texts);
    return like_run(&texts, inputs->contains, false, BATCH_ROWS, NULL, &result);
}

static kith_error *like_general(const struct inputs *inputs)
{
    _cleanup_(array_unref) struct array *result = NULL;
    struct datum texts = datum_of(inputs->texts);
    return like_run(&texts, inputs->general, false, BATCH_ROWS, NULL, &result);
}

static const struct {
    const char *name;
    kith_error *(*run)(const struct inputs *inputs);
} measurements[] = {
    {"select int64 < c, 1 % pass", select_1_percent},
    {"select int64 < c, 50 % pass", select_50_percent},
    {"select int64 < c, 99 % pass", select_99_percent},
    {"select int64 < c of every tenth row", select_from_tenth},
    {"int64 <= int64", compare_columns},
    {"text < c", compare_texts},
    {"int64 + int64, checked", add_integers},
    {"int64 * int64, checked", multiply_integers},
    {"decimal(15,2) * decimal(15,2)", multiply_decimals},
    {"decimal(15,2) - decimal(15,2)", subtract_decimals},
    {"decimal(31,4) * decimal(15,2)", multiply_wide_decimals},
    {"int64 IN (20 values)", find_in_list},
    {"text LIKE '%abc%', 24 bytes", like_contains},
    {"text LIKE '%a_c%e%', 24 bytes", like_general},
};

int main(int argc, char **argv)
{
    struct inputs inputs = {0};
    size_t millions = argc > 1 ? strtoul(argv[1], NULL, 10) : 50;
    size_t batches = MAX(millions, (size_t)1) * 1000000 / BATCH_ROWS;
    kith_error *error = prepare(&inputs);
    for (size_t m = 0; m < ARRAY_SIZE(measurements) && error == NULL; m++) {
        double start = processor_ns();
        for (size_t i = 0; i < batches && error == NULL; i++)
            error = measurements[m].run(&inputs);
        double elapsed = processor_ns() - start;
        printf("%-40s %7.3f ns/row\n", measurements[m].name, elapsed / ((double)batches * BATCH_ROWS));
    }
    if (error != NULL) {
        char text[512];
        fprintf(stderr, "filter: %s\n", error_describe(error, text, sizeof text));
        error_free(error);
        return 1;
    }
    return 0;
}
