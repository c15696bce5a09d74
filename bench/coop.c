/*
 * What cooperation costs where batches are cheapest: a million int32 rows go from a source that hands out through a
 * stream that splits batches to rows of 1,024 (977 batches) to a loop that drops them. Two cases: `unsplit`, the source
 * has the 977 batches; `cached`, it has one batch of all rows, and 976 of the 977 slices come out of the splitter's own
 * buffer. Two arms: `without`, a splitter kept here alone whose slices bypass the budget, and `with`, the real one.
 * Beside them a plain loop that makes and drops 977 slices with one allocation and one atomic reference each.
 *
 * Eight processes, each pinned to one processor, take the arms in the order ABBAABBA (A = without); each has 20
 * warm-ups and 1,001 samples of each case. Printed are the medians of the four processes' medians, p95s and p99s: what
 * else the machine does comes in bursts that hit one process, and would be the p99 of all samples together.
 *
 *     coop [PROCESSOR]
 */
#include "base/alloc.h"
#include "columnar/builder.h"
#include "exec/batch_split.h"
#include "runtime/runtime.h"

#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 1000000, BATCH_ROWS = 1024, BATCHES = (ROWS + BATCH_ROWS - 1) / BATCH_ROWS };
enum { WARM_UPS = 20, SAMPLES = 1001, PROCESSES = 8 };
enum arm { WITHOUT, WITH, ARMS };
enum work { UNSPLIT, CACHED, PLAIN, WORKS };

static const enum arm arm_of_process[PROCESSES] = {WITHOUT, WITH, WITH, WITHOUT, WITHOUT, WITH, WITH, WITHOUT};

struct data {
    struct schema *schema;
    struct batch *whole;
    struct batch *parts[BATCHES];
    struct metric_set metrics;
};

/* Nanoseconds. */
struct result {
    int64_t samples[WORKS][SAMPLES];
};

struct source_stream {
    struct stream stream;
    struct batch *const *batches;
    size_t count, next;
};

static kith_error *source_next(struct stream *stream, struct batch **out)
{
    struct source_stream *source = CONTAINER_OF(stream, struct source_stream, stream);
    if (source->next < source->count)
        *out = batch_ref(source->batches[source->next++]);
    return NULL;
}

static void source_free(struct stream *stream)
{
    free(CONTAINER_OF(stream, struct source_stream, stream));
}

static kith_error *source_new(struct data *data, enum work work, struct stream **out)
{
    static const struct stream_ops ops = {.next = source_next, .free = source_free, .hands_out = true};
    struct source_stream *source;
    TRY(NEW(&source));
    source->stream = (struct stream){.ops = &ops, .schema = data->schema, .coop = coop_make(COOP_SHARED, NULL)};
    source->batches = work == CACHED ? &data->whole : data->parts;
    source->count = work == CACHED ? 1 : BATCHES;
    *out = &source->stream;
    return NULL;
}

/* The splitter without its charge, otherwise as exec/batch_split.c has it. */
struct bypass_stream {
    struct stream stream;
    struct stream *input;
    size_t rows;
    struct metric_set *metrics;
    struct batch *batch;
    size_t position, slices;
};

static void bypass_end_batch(struct bypass_stream *split)
{
    if (split->slices > 0)
        metric_add(split->metrics, METRIC_BATCHES_SPLIT, split->slices);
    split->slices = 0;
    batch_unref(TAKE(split->batch));
}

static kith_error *bypass_cut(struct bypass_stream *split, struct batch **out)
{
    size_t left = batch_row_count(split->batch) - split->position;
    size_t length = MIN(left, split->rows);
    TRY(batch_slice(split->batch, split->position, length, out));
    split->position += length;
    split->slices++;
    if (length == left)
        bypass_end_batch(split);
    return NULL;
}

static __attribute__((noinline)) kith_error *bypass_pull(struct bypass_stream *split, struct batch **out)
{
    _cleanup_(batch_unref) struct batch *batch = NULL;
    if (split->input == NULL)
        return NULL;
    TRY(stream_next(split->input, &batch));
    if (batch == NULL)
        stream_free(TAKE(split->input));
    if (batch == NULL || batch_row_count(batch) <= split->rows) {
        *out = TAKE(batch);
        return NULL;
    }
    split->batch = TAKE(batch);
    split->position = 0;
    return bypass_cut(split, out);
}

static kith_error *bypass_next(struct stream *stream, struct batch **out)
{
    struct bypass_stream *split = CONTAINER_OF(stream, struct bypass_stream, stream);
    return split->batch == NULL ? bypass_pull(split, out) : bypass_cut(split, out);
}

static void bypass_free(struct stream *stream)
{
    struct bypass_stream *split = CONTAINER_OF(stream, struct bypass_stream, stream);
    bypass_end_batch(split);
    stream_free(split->input);
    free(split);
}

static kith_error *split_new(struct data *data, enum arm arm, enum work work, struct stream **out)
{
    static const struct stream_ops ops = {.next = bypass_next, .free = bypass_free};
    struct stream *source = NULL;
    struct bypass_stream *split;
    TRY(source_new(data, work, &source));
    if (arm == WITH)
        return batch_split_stream_new(source, BATCH_ROWS, coop_make(COOP_SHARED, NULL), &data->metrics, out);
    _cleanup_(stream_free) struct stream *input = source;
    TRY(NEW(&split));
    split->stream = (struct stream){.ops = &ops, .schema = data->schema};
    split->input = TAKE(input);
    split->rows = BATCH_ROWS;
    split->metrics = &data->metrics;
    *out = &split->stream;
    return NULL;
}

static kith_error *drain(struct stream *stream)
{
    size_t rows = 0, batches = 0;
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(stream_next(stream, &batch));
        if (batch == NULL)
            break;
        rows += batch_row_count(batch);
        batches++;
    }
    return rows == ROWS && batches == BATCHES
               ? NULL
               : error_new(KITH_ERROR_INTERNAL, "%zu rows in %zu batches came, not %d in %d", rows, batches, ROWS,
                           BATCHES);
}

struct plain_slice {
    struct refcount *refs;
    size_t offset, rows;
};

/* Never inlined, so that no allocation is seen to be useless. */
static __attribute__((noinline)) struct plain_slice *plain_slice_new(struct refcount *refs, size_t offset)
{
    struct plain_slice *slice = malloc(sizeof *slice);
    if (slice == NULL)
        return NULL;
    refcount_take(refs);
    *slice =
        (struct plain_slice){.refs = refs, .offset = offset, .rows = MIN((size_t)ROWS - offset, (size_t)BATCH_ROWS)};
    return slice;
}

static kith_error *plain_loop(struct refcount *refs)
{
    size_t rows = 0;
    for (size_t offset = 0; offset < ROWS; offset += BATCH_ROWS) {
        struct plain_slice *slice = plain_slice_new(refs, offset);
        if (slice == NULL)
            return error_out_of_memory();
        rows += slice->rows;
        if (refcount_drop(slice->refs))
            UNREACHABLE();
        free(slice);
    }
    return rows == ROWS ? NULL : error_new(KITH_ERROR_INTERNAL, "the plain loop gave %zu rows", rows);
}

static kith_error *sample(struct data *data, enum arm arm, enum work work, int64_t *out_ns)
{
    _cleanup_(stream_free) struct stream *stream = NULL;
    struct refcount refs;
    refcount_init(&refs);
    if (work != PLAIN)
        TRY(split_new(data, arm, work, &stream));
    int64_t start = clock_monotonic_ns(&system_clock);
    TRY(work == PLAIN ? plain_loop(&refs) : drain(stream));
    *out_ns = clock_monotonic_ns(&system_clock) - start;
    return NULL;
}

/* Before any timing: the slices are the rows in order, share the whole's column, and are counted. */
static kith_error *check(struct data *data)
{
    _cleanup_(stream_free) struct stream *stream = NULL;
    TRY(split_new(data, WITH, CACHED, &stream));
    for (size_t i = 0; i < BATCHES; i++) {
        _cleanup_(batch_unref) struct batch *slice = NULL;
        TRY(stream_next(stream, &slice));
        if (slice == NULL || slice->offset != i * BATCH_ROWS || slice->columns != data->whole->columns)
            return error_new(KITH_ERROR_INTERNAL, "slice %zu is not the rows from %zu on", i, i * BATCH_ROWS);
    }
    return metric_get(&data->metrics, METRIC_BATCHES_SPLIT) == BATCHES
               ? NULL
               : error_new(KITH_ERROR_INTERNAL, "the slices are not counted");
}

static kith_error *data_init(struct data *data)
{
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    _cleanup_(array_unref) struct array *column = NULL;
    const struct field field = {.name = (char[]){"v"}, .type = type_of(TYPE_INT32)};
    TRY(schema_new(&field, 1, &data->schema));
    TRY(array_builder_new(&field.type, &builder));
    for (int i = 0; i < ROWS; i++) {
        const struct scalar value = {.type = field.type, .int64 = i};
        TRY(array_builder_append(builder, &value));
    }
    TRY(array_builder_finish(builder, &column));
    TRY(batch_new(data->schema, &column, ROWS, &data->whole));
    for (size_t i = 0; i < BATCHES; i++)
        TRY(batch_slice(data->whole, i * BATCH_ROWS, MIN((size_t)ROWS - i * BATCH_ROWS, (size_t)BATCH_ROWS),
                        &data->parts[i]));
    return NULL;
}

struct run {
    enum arm arm;
    struct result *result;
    struct data data;
};

static kith_error *run_arm(void *argument)
{
    struct run *run = argument;
    TRY(check(&run->data));
    for (int work = 0; work < WORKS; work++) {
        for (int i = -WARM_UPS; i < SAMPLES; i++) {
            int64_t ns;
            TRY(sample(&run->data, run->arm, (enum work)work, &ns));
            if (i >= 0)
                run->result->samples[work][i] = ns;
        }
    }
    return NULL;
}

static kith_error *run_pinned(enum arm arm, int processor, struct result *out)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    struct run run = {.arm = arm, .result = out};
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "cannot run on processor %d", processor);
    TRY(data_init(&run.data));
    TRY(runtime_new(&(struct runtime_options){.threads = 1}, &runtime));
    return runtime_run(runtime, run_arm, &run);
}

static void fail(kith_error *error)
{
    char text[1024];
    fprintf(stderr, "coop: %s\n", error_describe(error, text, sizeof text));
    error_free(error);
    exit(1);
}

/* In a process of its own, which sends its samples. */
static void run_in_process(enum arm arm, int processor, struct result *out)
{
    int ends[2];
    if (pipe(ends) != 0)
        fail(error_new(KITH_ERROR_IO, "no pipe"));
    pid_t child = fork();
    if (child == 0) {
        kith_error *error = run_pinned(arm, processor, out);
        if (error != NULL)
            fail(error);
        FILE *pipe_file = fdopen(ends[1], "w");
        exit(pipe_file == NULL || fwrite(out, sizeof *out, 1, pipe_file) != 1 || fclose(pipe_file) != 0);
    }
    close(ends[1]);
    FILE *pipe_file = fdopen(ends[0], "r");
    size_t got = pipe_file != NULL ? fread(out, sizeof *out, 1, pipe_file) : 0;
    if (pipe_file != NULL)
        fclose(pipe_file);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0 || got != 1)
        fail(error_new(KITH_ERROR_IO, "a process of the benchmark failed"));
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct summary {
    double median, p95, p99; /* microseconds */
};

static double percentile_us(const int64_t *sorted, size_t percent)
{
    return (double)sorted[(SAMPLES * percent + 99) / 100 - 1] / 1000;
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Of the processes of one arm; of all for the plain loop, which has none. */
static struct summary summarize(struct result *results, enum arm arm, enum work work)
{
    double medians[PROCESSES], p95s[PROCESSES], p99s[PROCESSES];
    size_t processes = 0;
    for (size_t i = 0; i < PROCESSES; i++) {
        if (work != PLAIN && arm_of_process[i] != arm)
            continue;
        int64_t *samples = results[i].samples[work];
        qsort(samples, SAMPLES, sizeof *samples, compare);
        medians[processes] = percentile_us(samples, 50);
        p95s[processes] = percentile_us(samples, 95);
        p99s[processes++] = percentile_us(samples, 99);
    }
    return (struct summary){
        .median = median(medians, processes), .p95 = median(p95s, processes), .p99 = median(p99s, processes)};
}

static void print_row(const char *what, struct summary s)
{
    printf("%-28s %10.3f %10.3f %10.3f\n", what, s.median, s.p95, s.p99);
}

static void print_ratio(const char *what, struct summary a, struct summary b)
{
    printf("%-28s %10.3f %10.3f %10.3f\n", what, b.median / a.median, b.p95 / a.p95, b.p99 / a.p99);
}

int main(int argc, char **argv)
{
    static struct result results[PROCESSES];
    int processor = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    for (size_t i = 0; i < PROCESSES; i++)
        run_in_process(arm_of_process[i], processor, &results[i]);
    struct summary unsplit[ARMS], cached[ARMS], plain = summarize(results, WITHOUT, PLAIN);
    for (int arm = 0; arm < ARMS; arm++) {
        unsplit[arm] = summarize(results, (enum arm)arm, UNSPLIT);
        cached[arm] = summarize(results, (enum arm)arm, CACHED);
    }
    printf("%d rows, %d batches, us              median        p95        p99\n", ROWS, BATCHES);
    print_row("unsplit, without", unsplit[WITHOUT]);
    print_row("unsplit, with", unsplit[WITH]);
    print_ratio("    with / without", unsplit[WITHOUT], unsplit[WITH]);
    print_row("cached, without", cached[WITHOUT]);
    print_row("cached, with", cached[WITH]);
    print_ratio("    with / without", cached[WITHOUT], cached[WITH]);
    print_row("plain loop", plain);
    print_ratio("    cached, with / plain", plain, cached[WITH]);
    return 0;
}
