/*
 * An operator whose partitions give batches that the test made: integers in columns k (nullable) and v. And operators
 * made by hand over it, without a plan of a whole query.
 */
#ifndef KITH_TESTS_EXEC_SOURCES_H
#define KITH_TESTS_EXEC_SOURCES_H

#include "compute/columns.h"
#include "exec/operators.h"
#include "runtime/fibers.h"

#include <stdatomic.h>

enum source_end { SOURCE_ENDS, SOURCE_FAILS, SOURCE_HANGS /* until it is cancelled */ };

enum { SOURCE_BATCHES = 16, SOURCE_PARTITIONS = 9 };

struct source_partition {
    struct batch *batches[SOURCE_BATCHES]; /* owned */
    size_t count;
    enum source_end end;
    void (*at_end)(void *context); /* called when the batches are used up; may be NULL */
    void *end_context;
};

struct source {
    struct exec_operator node;
    struct physical_plan plan;
    struct source_partition partitions[SOURCE_PARTITIONS];
    atomic_int live_streams;
    atomic_int pulled; /* batches */
};

/* What one test runs in: a source and one operator over it. */
struct bench {
    struct arena arena;
    struct schema *schema;
    struct memory_pool *pool;
    struct cancel_token *cancel;
    struct task_context context;
    struct metric_set metrics[2]; /* the operator's, the source's */
    struct source source;
    struct physical_plan plan;
    struct physical_plan *plan_inputs[1];
    struct sort_expr sort[2];
    struct exec_operator *node; /* made by bench_operator; NULL before */
};

struct source_stream {
    struct stream stream;
    struct source *source;
    struct source_partition *partition;
    size_t next;
};

static inline kith_error *source_next(struct stream *stream, struct batch **out)
{
    struct source_stream *self = CONTAINER_OF(stream, struct source_stream, stream);
    if (self->next < self->partition->count) {
        atomic_fetch_add(&self->source->pulled, 1);
        *out = batch_ref(self->partition->batches[self->next++]);
        return NULL;
    }
    if (self->partition->at_end != NULL)
        self->partition->at_end(self->partition->end_context);
    if (self->partition->end == SOURCE_FAILS)
        return error_new(KITH_ERROR_IO, "the source failed");
    while (self->partition->end == SOURCE_HANGS)
        TRY(fiber_yield());
    return NULL;
}

static inline void source_free_stream(struct stream *stream)
{
    struct source_stream *self = CONTAINER_OF(stream, struct source_stream, stream);
    atomic_fetch_sub(&self->source->live_streams, 1);
    free(self);
}

static inline kith_error *source_execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    static const struct stream_ops ops = {.next = source_next, .free = source_free_stream, .hands_out = true};
    struct source *source = CONTAINER_OF(node, struct source, node);
    struct source_stream *stream;
    TRY(NEW(&stream));
    stream->stream = operator_stream(node, &ops);
    stream->source = source;
    stream->partition = &source->partitions[partition];
    atomic_fetch_add(&source->live_streams, 1);
    *out = &stream->stream;
    return NULL;
}

/* Called from a fiber. */
static inline void bench_init(struct bench *bench, size_t partitions)
{
    static const struct operator_ops ops = {.execute = source_execute};
    const struct field fields[] = {{.name = (char[]){"k"}, .type = type_of(TYPE_INT64), .nullable = true},
                                   {.name = (char[]){"v"}, .type = type_of(TYPE_INT64)}};
    *bench = (struct bench){0};
    assert_ok(schema_new(fields, 2, &bench->schema));
    assert_ok(memory_pool_new(0, &bench->pool));
    assert_ok(cancel_token_new(NULL, &bench->cancel));
    bench->context = (struct task_context){.runtime = runtime_current(), .pool = bench->pool, .cancel = bench->cancel};
    settings_init(&bench->context.settings);
    bench->source.plan = (struct physical_plan){.schema = bench->schema, .partitions = partitions};
    bench->source.node = (struct exec_operator){
        .ops = &ops, .plan = &bench->source.plan, .context = &bench->context, .metrics = &bench->metrics[1]};
    for (size_t i = 0; i < 2; i++)
        assert_ok(expr_column(&bench->arena, bench->schema, i, &bench->sort[i].expr));
    bench->plan_inputs[0] = &bench->source.plan;
    bench->plan = (struct physical_plan){
        .schema = bench->schema, .partitions = 1, .input_count = 1, .inputs = bench->plan_inputs};
    bench->plan.sort.exprs = bench->sort;
    bench->plan.sort.count = 1;
}

static inline void bench_reset(struct bench *bench)
{
    assert_int_equal(atomic_load(&bench->source.live_streams), 0);
    assert_int_equal(memory_pool_used(bench->pool), 0);
    if (bench->node != NULL) {
        free(bench->node->inputs);
        bench->node->ops->free(bench->node);
    }
    for (size_t i = 0; i < SOURCE_PARTITIONS; i++)
        for (size_t j = 0; j < bench->source.partitions[i].count; j++)
            batch_unref(bench->source.partitions[i].batches[j]);
    cancel_token_unref(bench->cancel);
    memory_pool_free(bench->pool);
    schema_unref(bench->schema);
    arena_reset(&bench->arena);
}
DEFINE_VALUE_CLEANUP(bench_reset, struct bench)

/* Adds a batch of rows (k, v) to a partition; NOTHING is NULL. */
static inline void bench_add(struct bench *bench, size_t partition, const int64_t (*rows)[2], size_t count)
{
    struct array *columns[2] = {NULL};
    struct source_partition *to = &bench->source.partitions[partition];
    for (size_t i = 0; i < 2; i++) {
        _cleanup_(array_builder_free) struct array_builder *builder = NULL;
        struct data_type type = type_of(TYPE_INT64);
        assert_ok(array_builder_new(&type, &builder));
        for (size_t row = 0; row < count; row++) {
            struct scalar value = {.type = type, .is_null = rows[row][i] == NOTHING, .int64 = rows[row][i]};
            assert_ok(array_builder_append(builder, &value));
        }
        assert_ok(array_builder_finish(builder, &columns[i]));
    }
    assert_true(to->count < SOURCE_BATCHES);
    assert_ok(batch_new(bench->schema, columns, count, &to->batches[to->count++]));
    array_unref(columns[0]);
    array_unref(columns[1]);
}
#define ADD_ROWS(bench, partition, ...)                                \
    bench_add((bench), (partition), (const int64_t[][2]){__VA_ARGS__}, \
              sizeof((const int64_t[][2]){__VA_ARGS__}) / sizeof(int64_t[2]))

/* Makes the operator; its plan is bench->plan, and its settings those of the context, as they are now. */
static inline void bench_operator(struct bench *bench, enum physical_kind kind,
                                  kith_error *(*constructor)(struct exec_operator **out))
{
    bench->plan.kind = kind;
    assert_ok(constructor(&bench->node));
    bench->node->plan = &bench->plan;
    bench->node->context = &bench->context;
    bench->node->metrics = &bench->metrics[0];
    assert_ok(NEW_ARRAY(&bench->node->inputs, 1));
    bench->node->inputs[0] = &bench->source.node;
}

/* Pulls a partition to its end; appends "k:v " for each row. */
static inline kith_error *_must_check_ bench_run(struct bench *bench, struct strbuf *out)
{
    _cleanup_(stream_free) struct stream *stream = NULL;
    TRY(operator_execute(bench->node, 0, &stream));
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL, *compact = NULL;
        kith_error *error = stream_next(stream, &batch);
        if (error != NULL) {
            /* After an error there is nothing but the end. */
            assert_ok(stream_next(stream, &batch));
            assert_null(batch);
            return error;
        }
        if (batch == NULL)
            return NULL;
        TRY(batch_compact(batch, &compact));
        for (size_t row = 0; row < compact->rows; row++) {
            struct scalar k = scalar_from_array(compact->columns[0], row);
            struct scalar v = scalar_from_array(compact->columns[1], row);
            TRY(scalar_format(&k, out));
            TRY(strbuf_printf(out, ":%d ", (int)v.int64));
        }
    }
}

static inline void bench_check(struct bench *bench, const char *expected)
{
    _cleanup_(strbuf_reset) struct strbuf rows = {0};
    assert_ok(bench_run(bench, &rows));
    assert_string_equal(strbuf_text(&rows), expected);
}

static inline void bench_check_fails(struct bench *bench, enum kith_code code, const char *part)
{
    _cleanup_(strbuf_reset) struct strbuf rows = {0};
    assert_fails(bench_run(bench, &rows), code, part);
}

#endif
