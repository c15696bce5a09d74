#include "frontends/bench/topk_run.h"

#include "base/alloc.h"

#include "cluster/cluster.h"
#include "columnar/scalar.h"
#include "frontends/bench/plain_loop.h"
#include "frontends/bench/process_usage.h"
#include "plan/table.h"
#include "runtime/io.h"
#include "runtime/sync.h"

#include <inttypes.h>
#include <unistd.h>

struct topk_run {
    struct topk_run_options options;
    struct session *session;
    struct cluster *cluster; /* NULL, and `loop` not, in embedded cases */
    struct plain_loop *loop;
    struct strbuf sql;
    char pattern[512]; /* of the files */
    FILE *answers;     /* where rows are written, NULL nearly always; borrowed */
    struct fixture_row answer[TOPK_LIMIT];
    size_t answer_count;
    struct topk_facts facts;
};

/* Checks rows as they come and reads the query's numbers at the end. */
struct checker {
    struct session_sink sink;
    const struct topk_run *run;
    size_t rows;
    int64_t began_ns, ended_ns;
    struct topk_block *block;
};

static int64_t now_ns(void)
{
    return clock_monotonic_ns(&system_clock);
}

static bool value_is_right(const struct scalar *value, enum fixture_column column, const struct fixture_row *row)
{
    switch (column) {
    case FIXTURE_SCORE:
        return value->int64 == row->score;
    case FIXTURE_ID:
        return value->int64 == row->id;
    case FIXTURE_EXCLUDED:
        return value->boolean == row->excluded;
    case FIXTURE_TAG:
        return value->int64 == row->tag;
    case FIXTURE_VAL:
        return value->float64 == row->val;
    case FIXTURE_PAYLOAD:
        return str_equal(value->string, (struct str){row->payload, sizeof row->payload});
    case FIXTURE_COLUMNS:
        break;
    }
    return false;
}

static void write_value(FILE *out, const struct scalar *value, enum fixture_column column)
{
    if (column == FIXTURE_VAL)
        fprintf(out, "%.17g", value->float64);
    else if (column == FIXTURE_PAYLOAD)
        fprintf(out, "\"%.*s\"", (int)value->string.length, value->string.data);
    else if (column == FIXTURE_EXCLUDED)
        fputs(value->boolean ? "true" : "false", out);
    else
        fprintf(out, "%" PRId64, value->int64);
}

static void write_row(const struct topk_run *run, size_t row, const struct batch *batch, size_t i)
{
    const struct topk_query *query = run->options.topk_case.query;
    for (size_t column = 0; column < query->output_count; column++) {
        struct scalar value = scalar_from_array(batch->columns[column], i);
        fputs(column > 0 ? ", " : row > 0 ? ", [" : "[", run->answers);
        write_value(run->answers, &value, query->outputs[column]);
    }
    fputc(']', run->answers);
}

static kith_error *check_row(const struct checker *checker, const struct batch *batch, size_t i)
{
    const struct topk_run *run = checker->run;
    const struct topk_query *query = run->options.topk_case.query;
    size_t row = checker->rows + i;
    if (row >= run->answer_count)
        return error_new(KITH_ERROR_INTERNAL, "wrong answer: more than %zu rows came for: %s", run->answer_count,
                         strbuf_text(&run->sql));
    for (size_t column = 0; column < query->output_count; column++) {
        struct scalar value = scalar_from_array(batch->columns[column], i);
        if (value.is_null || !value_is_right(&value, query->outputs[column], &run->answer[row]))
            return error_new(KITH_ERROR_INTERNAL,
                             "wrong answer: row %zu has another %s than the one of id %" PRId64 " and score %" PRId64
                             " for: %s",
                             row, fixture_column_names[query->outputs[column]], run->answer[row].id,
                             run->answer[row].score, strbuf_text(&run->sql));
    }
    return NULL;
}

static kith_error *sink_begin(struct session_sink *sink, struct schema *schema)
{
    CONTAINER_OF(sink, struct checker, sink)->began_ns = now_ns();
    return NULL;
}

static kith_error *sink_batch(struct session_sink *sink, struct batch *batch)
{
    struct checker *checker = CONTAINER_OF(sink, struct checker, sink);
    _cleanup_(batch_unref) struct batch *compact = NULL;
    TRY(batch_compact(batch, &compact));
    for (size_t i = 0; i < compact->rows; i++)
        TRY(check_row(checker, compact, i));
    for (size_t i = 0; i < compact->rows && checker->run->answers != NULL; i++)
        write_row(checker->run, checker->rows + i, compact, i);
    checker->rows += compact->rows;
    return NULL;
}

static void judge_effect(const struct topk_run *run, const uint64_t values[METRIC_COUNT], struct topk_block *block)
{
    bool useful = values[METRIC_BOUNDS_APPLIED] > 0;
    bool ruled_out = values[METRIC_ROW_GROUPS_PRUNED_REMOTE] + values[METRIC_PAGES_PRUNED_REMOTE] > 0;
    block->useful += useful;
    block->effective += useful && ruled_out && values[METRIC_ROWS_SCANNED] < run->facts.local_floor;
    block->least += values[METRIC_ROW_GROUPS_READ] <= run->facts.row_groups_needed;
}

static kith_error *sink_finished(struct session_sink *sink, struct query *query)
{
    struct checker *checker = CONTAINER_OF(sink, struct checker, sink);
    struct topk_block found = {0};
    checker->ended_ns = now_ns();
    size_t tasks = MAX(topk_case_workers(&checker->run->options.topk_case), (size_t)1);
    if (query_task_count(query) != tasks)
        return error_new(KITH_ERROR_INTERNAL, "the query ran as %zu tasks instead of %zu", query_task_count(query),
                         tasks);
    for (size_t task = 0; task < tasks; task++) {
        uint64_t values[METRIC_COUNT];
        if (!query_task_metrics(query, task, values))
            return error_new(KITH_ERROR_UNAVAILABLE, "the last metrics of task %zu did not come", task);
        metric_values_add(found.metrics, values);
    }
    if (!query_sharing(query, &found.sharing))
        found.sharing = (struct filter_registry_counters){0};
    judge_effect(checker->run, found.metrics, &found);
    topk_block_add(checker->block, &found);
    return NULL;
}

static kith_error *sink_end(struct session_sink *sink, uint64_t rows)
{
    const struct topk_run *run = CONTAINER_OF(sink, struct checker, sink)->run;
    if (rows != run->answer_count)
        return error_new(KITH_ERROR_INTERNAL, "wrong answer: %" PRIu64 " rows instead of %zu for: %s", rows,
                         run->answer_count, strbuf_text(&run->sql));
    return NULL;
}

static kith_error *run_query(struct topk_run *run, struct topk_block *block)
{
    struct checker checker = {
        .sink = {.begin = sink_begin, .batch = sink_batch, .end = sink_end, .finished = sink_finished},
        .run = run,
        .block = block,
    };
    int64_t start = now_ns();
    TRY(session_run(run->session, (struct str){run->sql.data, run->sql.length}, &checker.sink));
    block->queries++;
    block->statement_ns += now_ns() - start;
    block->collect_ns += checker.ended_ns - checker.began_ns;
    return NULL;
}

static kith_error *run_loop(struct topk_run *run, struct topk_block *block)
{
    int64_t scores[TOPK_LIMIT], start = now_ns();
    size_t count;
    TRY(plain_loop_run(run->loop, TOPK_LIMIT, scores, &count));
    block->queries++;
    block->collect_ns += now_ns() - start;
    block->statement_ns = block->collect_ns;
    block->metrics[METRIC_BYTES_SCANNED] += run->facts.bytes_there;
    bool right = count == run->answer_count;
    for (size_t i = 0; i < count && right; i++)
        right = scores[i] == run->answer[i].score;
    for (size_t i = 0; i < count && run->answers != NULL; i++)
        fprintf(run->answers, "%s[%" PRId64 "]", i == 0 ? "" : ", ", scores[i]);
    return right ? NULL : error_new(KITH_ERROR_INTERNAL, "wrong answer of the plain loop");
}

void topk_run_pids(const struct topk_run *run, pid_t pids[1 + TOPK_MOST_TASKS], size_t *count)
{
    pids[0] = getpid();
    *count = 1;
    for (size_t i = 0; i < topk_case_workers(&run->options.topk_case); i++)
        pids[(*count)++] = run->options.workers->workers[i].pid;
}

static void read_cpu(const struct topk_run *run, int64_t cpu_ns[1 + TOPK_MOST_TASKS])
{
    pid_t pids[1 + TOPK_MOST_TASKS];
    size_t count;
    topk_run_pids(run, pids, &count);
    for (size_t i = 0; i < count; i++)
        cpu_ns[i] = process_cpu_ns(pids[i]);
}

/* Waits until no worker has used its processor for a while: connections' and tasks' ends may come after the rows. */
static kith_error *settle(const struct topk_run *run, int64_t cpu_ns[1 + TOPK_MOST_TASKS])
{
    enum { STEPS = 100 };
    static const int64_t step_ns = NANOSECONDS_PER_MILLISECOND / 5;
    bool at_rest = false;
    read_cpu(run, cpu_ns);
    for (int step = 0; step < STEPS && !at_rest; step++) {
        int64_t before[1 + TOPK_MOST_TASKS];
        memcpy(before, cpu_ns, sizeof before);
        TRY(sleep_until(now_ns() + step_ns));
        read_cpu(run, cpu_ns);
        at_rest = true;
        for (size_t i = 1; i <= topk_case_workers(&run->options.topk_case); i++)
            at_rest = at_rest && cpu_ns[i] == before[i];
    }
    return NULL;
}

static kith_error *apply_settings(struct topk_run *run, const struct topk_arm *arm)
{
    TRY(topk_arm_apply(arm, run->session));
    if (run->options.topk_case.query->embedded)
        TRY(session_set(run->session, "execution.target_partitions", "1"));
    for (size_t i = 0; i < run->options.setting_count; i++)
        TRY(session_set(run->session, run->options.settings[i].name, run->options.settings[i].value));
    return NULL;
}

kith_error *topk_run_block(struct topk_run *run, const struct topk_arm *arm, size_t queries, struct topk_block *out)
{
    int64_t before[1 + TOPK_MOST_TASKS] = {0}, after[1 + TOPK_MOST_TASKS] = {0};
    *out = (struct topk_block){0};
    TRY(apply_settings(run, arm));
    TRY(settle(run, before));
    for (size_t i = 0; i < queries; i++)
        TRY(arm == &topk_loop_arm ? run_loop(run, out) : run_query(run, out));
    TRY(settle(run, after));
    for (size_t i = 0; i < ARRAY_SIZE(before); i++)
        out->processes[i].cpu_ns = after[i] - before[i];
    return NULL;
}

kith_error *topk_run_answer(struct topk_run *run, const struct topk_arm *arm, FILE *out)
{
    struct topk_block block;
    fprintf(out, "{\"case\": \"%s/%zu\", \"arm\": \"%s\", \"sql\": \"%s\", \"files\": \"%s\", \"rows\": [",
            run->options.topk_case.query->name, run->options.topk_case.tasks, arm->name, strbuf_text(&run->sql),
            run->pattern);
    run->answers = out;
    kith_error *error = topk_run_block(run, arm, 1, &block);
    run->answers = NULL;
    fputs("]}\n", out);
    TRY(error);
    return ferror(out) == 0 ? NULL : error_new(KITH_ERROR_IO, "the answers cannot be written");
}

bool topk_run_reset_peaks(const struct topk_run *run)
{
    pid_t pids[1 + TOPK_MOST_TASKS];
    size_t count;
    bool done = true;
    topk_run_pids(run, pids, &count);
    for (size_t i = 0; i < count; i++)
        done = process_reset_peak(pids[i]) && done;
    return done;
}

void topk_run_read_peaks(const struct topk_run *run, struct topk_block *out)
{
    pid_t pids[1 + TOPK_MOST_TASKS];
    size_t count;
    topk_run_pids(run, pids, &count);
    for (size_t i = 0; i < count; i++)
        out->processes[i].peak_bytes = process_peak_bytes(pids[i]);
}

const struct topk_facts *topk_run_facts(const struct topk_run *run)
{
    return &run->facts;
}

static bool query_reads(const struct topk_query *query, const char *column)
{
    bool reads = query->filtered && strcmp(column, fixture_column_names[FIXTURE_EXCLUDED]) == 0;
    for (size_t i = 0; i < query->output_count; i++)
        reads |= strcmp(column, fixture_column_names[query->outputs[i]]) == 0;
    return reads || strcmp(column, fixture_column_names[query->key]) == 0;
}

static kith_error *count_bytes_there(struct topk_run *run, const char *pattern)
{
    _cleanup_(table_unref) struct table *table = NULL;
    TRY(table_open(pattern, &table));
    for (size_t i = 0; i < table->file_count; i++) {
        const struct parquet_file *file = table->files[i].file;
        run->facts.row_groups_there += file->metadata->row_group_count;
        for (size_t j = 0; j < file->schema->field_count; j++) {
            if (!query_reads(run->options.topk_case.query, file->schema->fields[j].name))
                continue;
            for (size_t k = 0; k < file->metadata->row_group_count; k++)
                run->facts.bytes_there += file->metadata->row_groups[k].chunks[file->columns[j]].pages.length;
        }
    }
    return NULL;
}

static kith_error *connect(struct topk_run *run)
{
    const char *addresses[TOPK_MOST_TASKS];
    size_t count = topk_case_workers(&run->options.topk_case);
    ASSERT(count <= run->options.workers->count);
    for (size_t i = 0; i < count; i++)
        addresses[i] = run->options.workers->workers[i].address;
    TRY(cluster_connect(runtime_current(), addresses, count, session_settings(run->session), &run->cluster));
    session_use_cluster(run->session, run->cluster);
    return NULL;
}

static size_t count_needed(const struct topk_run *run)
{
    size_t needed = 0;
    for (size_t i = 0; i < run->answer_count; i++) {
        int64_t rows = (int64_t)run->options.fixture.group_rows, group = run->answer[i].id / rows;
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen = seen || run->answer[j].id / rows == group;
        needed += !seen;
    }
    return needed;
}

/* Takes long for a fiber's turn. */
static kith_error *find_answer(void *argument)
{
    struct topk_run *run = argument;
    size_t files = topk_case_files(&run->options.topk_case, &run->options.fixture);
    const struct topk_query *query = run->options.topk_case.query;
    const struct fixture *fixture = &run->options.fixture;
    size_t tasks = run->options.topk_case.tasks;
    run->answer_count = fixture_best_rows(fixture, files, query->filtered, TOPK_LIMIT, run->answer);
    run->facts.row_groups_needed = count_needed(run);
    if (tasks >= files && files * fixture->groups % tasks == 0)
        TRY(fixture_local_floor(fixture, files, tasks, query->filtered, TOPK_LIMIT, &run->facts.local_floor));
    return NULL;
}

kith_error *topk_run_new(const struct topk_run_options *options, struct topk_run **out)
{
    _cleanup_(topk_run_free) struct topk_run *run = NULL;
    const struct topk_query *query = options->topk_case.query;
    TRY(NEW(&run));
    run->options = *options;
    run->options.fixture.layout = query->layout;
    const struct fixture *fixture = &run->options.fixture;
    size_t files = topk_case_files(&options->topk_case, fixture);
    TRY(fixture_write(fixture));
    TRY(fixture_path(fixture, SIZE_MAX, files, run->pattern));
    TRY(session_new(runtime_current(), &run->session));
    TRY(session_add_table(run->session, "t", run->pattern, true));
    TRY(count_bytes_there(run, run->pattern));
    TRY(topk_query_sql(query, &run->sql));
    TRY(offload(find_answer, run));
    TRY(query->embedded ? plain_loop_new(fixture, files, &run->loop) : connect(run));
    *out = TAKE(run);
    return NULL;
}

void topk_run_free(struct topk_run *run)
{
    if (run == NULL)
        return;
    cluster_free(run->cluster);
    plain_loop_free(run->loop);
    session_free(run->session);
    strbuf_reset(&run->sql);
    free(run);
}
