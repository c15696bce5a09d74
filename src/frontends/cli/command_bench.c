#include "frontends/bench/topk_fresh.h"
#include "frontends/bench/topk_sweep.h"
#include "frontends/cli/attendant.h"
#include "frontends/cli/bench_options.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/report.h"

#include <errno.h>
#include <stdio.h>

struct bench_command {
    struct bench_options options;
    VEC(char *) arguments; /* this program's, for fresh processes */
    VEC(struct topk_comparison *) comparisons;
    struct local_workers workers;
    struct strbuf json;
    FILE *answers; /* NULL unless asked for */
    bool is_awaited;
};

static void bench_command_reset(struct bench_command *command)
{
    for (size_t i = 0; i < command->comparisons.length; i++)
        topk_comparison_free(command->comparisons.items[i]);
    vec_reset(&command->comparisons);
    vec_reset(&command->arguments);
    strbuf_reset(&command->json);
    if (command->answers != NULL)
        fclose(command->answers);
    local_workers_stop(&command->workers);
    bench_options_reset(&command->options);
}
DEFINE_VALUE_CLEANUP(bench_command_reset, struct bench_command)

static struct topk_run_options run_options(const struct bench_command *command, const struct topk_case *topk_case)
{
    return (struct topk_run_options){
        .topk_case = *topk_case,
        .fixture = command->options.fixture,
        .workers = &command->workers,
        .settings = command->options.settings.items,
        .setting_count = command->options.settings.length,
    };
}

static kith_error *write_json(const struct bench_command *command)
{
    const char *path = command->options.json_path;
    if (path == NULL)
        return NULL;
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return error_from_errno(errno, "cannot write \"%s\"", path);
    size_t written = fwrite(command->json.data, 1, command->json.length, file);
    if (fclose(file) != 0 || written != command->json.length)
        return error_from_errno(errno, "cannot write \"%s\"", path);
    return NULL;
}

static kith_error *open_answers(struct bench_command *command)
{
    if (command->options.answers_path == NULL)
        return NULL;
    command->answers = fopen(command->options.answers_path, "we");
    return command->answers != NULL ? NULL
                                    : error_from_errno(errno, "cannot write \"%s\"", command->options.answers_path);
}

static kith_error *compare(struct bench_command *command, struct topk_runner *runner, const struct topk_case *topk_case,
                           const struct topk_arm *baseline, const struct topk_facts *facts)
{
    _cleanup_(topk_comparison_free) struct topk_comparison *comparison = NULL;
    const struct topk_setup *setup = &command->options.setup;
    TRY(NEW(&comparison));
    comparison->topk_case = *topk_case;
    comparison->arms[TOPK_CANDIDATE] = command->options.candidate;
    comparison->arms[TOPK_BASELINE] = baseline;
    comparison->facts = *facts;
    TRY(topk_compare(runner, &setup->pairing, comparison));
    TRY(topk_report_line(setup, comparison));
    TRY(vec_reserve(&command->comparisons, 1));
    command->comparisons.items[command->comparisons.length++] = TAKE(comparison);
    return NULL;
}

/* A runner over processes that stay. */
struct turns {
    struct topk_runner runner;
    struct topk_run *run;
};

static kith_error *run_turn(struct topk_runner *runner, const struct topk_arm *arm, size_t queries,
                            struct topk_block *out)
{
    return topk_run_block(CONTAINER_OF(runner, struct turns, runner)->run, arm, queries, out);
}

/* A query to warm up with, whose rows may be wanted. */
static kith_error *warm_up(const struct bench_command *command, struct topk_run *run, const struct topk_arm *arm)
{
    struct topk_block block;
    if (command->answers != NULL)
        return topk_run_answer(run, arm, command->answers);
    return topk_run_block(run, arm, 1, &block);
}

static kith_error *run_case(struct bench_command *command, const struct topk_case *topk_case)
{
    _cleanup_(topk_run_free) struct topk_run *run = NULL;
    const struct topk_run_options options = run_options(command, topk_case);
    const struct topk_arm *loop = &topk_loop_arm, *const *against = command->options.against.items;
    size_t count = command->options.against.length;
    TRY(topk_run_new(&options, &run));
    struct turns turns = {.runner = {run_turn}, .run = run};
    if (topk_case->query->embedded) {
        against = &loop;
        count = 1;
    }
    TRY(warm_up(command, run, command->options.candidate));
    for (size_t i = 0; i < count; i++) {
        TRY(warm_up(command, run, against[i]));
        TRY(compare(command, &turns.runner, topk_case, against[i], topk_run_facts(run)));
    }
    return NULL;
}

static kith_error *report(struct bench_command *command)
{
    const struct topk_setup *setup = &command->options.setup;
    TRY(topk_report_details(setup, command->comparisons.items, command->comparisons.length));
    TRY(topk_report_json(setup, command->comparisons.items, command->comparisons.length, &command->json));
    return write_json(command);
}

static kith_error *run_in_turns(struct bench_command *command)
{
    topk_report_head(&command->options.setup);
    TRY(open_answers(command));
    for (size_t i = 0; i < command->options.cases.length; i++)
        TRY(run_case(command, &command->options.cases.items[i]));
    return report(command);
}

/* The first run of a case writes its tables, if need be, and is not counted. */
static kith_error *run_fresh(struct bench_command *command)
{
    topk_report_head(&command->options.setup);
    for (size_t i = 0; i < command->options.cases.length; i++) {
        const struct topk_case *topk_case = &command->options.cases.items[i];
        struct topk_resources first;
        struct topk_fresh fresh;
        topk_fresh_init(&fresh, topk_case, command->arguments.items);
        TRY(topk_fresh_run(&fresh, command->options.candidate, 1, &first));
        for (size_t j = 0; j < command->options.against.length; j++)
            TRY(compare(command, &fresh.runner, topk_case, command->options.against.items[j], &first.facts));
    }
    return report(command);
}

static void print_processes(const struct topk_run *run)
{
    pid_t pids[1 + TOPK_MOST_TASKS];
    size_t count;
    topk_run_pids(run, pids, &count);
    fputs("resource_processes", stdout);
    for (size_t i = 0; i < count; i++)
        printf(" %ld", (long)pids[i]);
    putchar('\n');
}

/* Fixed work in processes that have done nothing else but one query to warm up. */
static kith_error *run_fixed_work(struct bench_command *command)
{
    const struct topk_case *topk_case = &command->options.cases.items[0];
    const struct topk_arm *arm = command->options.candidate;
    const struct topk_run_options options = run_options(command, topk_case);
    _cleanup_(topk_run_free) struct topk_run *run = NULL;
    struct topk_resources resources;
    TRY(topk_run_new(&options, &run));
    TRY(topk_run_block(run, arm, 1, &resources.block));
    if (!topk_run_reset_peaks(run))
        return error_new(KITH_ERROR_UNAVAILABLE,
                         "the system does not let a process's peak memory be counted anew (/proc/PID/clear_refs)");
    print_processes(run);
    puts("resource_begin");
    fflush(stdout);
    TRY(topk_run_block(run, arm, command->options.setup.pairing.queries, &resources.block));
    topk_run_read_peaks(run, &resources.block);
    puts("resource_end");
    resources.facts = *topk_run_facts(run);
    TRY(strbuf_printf(&command->json, "{\"case\": \"%s/%zu\", \"arm\": \"%s\", \"block\": ", topk_case->query->name,
                      topk_case->tasks, arm->name));
    TRY(topk_block_json(&resources.block, topk_case_workers(topk_case), &command->json));
    printf("%s}\n", strbuf_text(&command->json));
    return command->is_awaited ? topk_fresh_hand_back(&resources) : NULL;
}

static kith_error *run_sweep(struct bench_command *command)
{
    const struct topk_run_options options = run_options(command, &command->options.cases.items[0]);
    TRY(topk_sweep(&options, command->options.sweep_tasks, command->options.setup.pairing.queries, &command->json));
    return write_json(command);
}

static kith_error *run_in_runtime(void *argument)
{
    struct bench_command *command = argument;
    switch (command->options.mode) {
    case BENCH_PAIRS:
        return run_in_turns(command);
    case BENCH_SWEEP:
        return run_sweep(command);
    case BENCH_FIXED_WORK:
        return run_fixed_work(command);
    case BENCH_FRESH:
        break;
    }
    UNREACHABLE();
}

static size_t count_workers(const struct bench_options *options)
{
    size_t workers = 0;
    if (options->mode == BENCH_SWEEP)
        return options->sweep_tasks;
    for (size_t i = 0; i < options->cases.length; i++)
        workers = MAX(workers, topk_case_workers(&options->cases.items[i]));
    return workers;
}

static kith_error *run(struct bench_command *command)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    size_t threads = command->options.setup.threads;
    const struct runtime_options options = {.threads = threads};
    if (command->options.mode == BENCH_FRESH)
        return run_fresh(command);
    TRY(local_workers_start(count_workers(&command->options), threads, &command->workers));
    TRY(runtime_new(&options, &runtime));
    return runtime_run(runtime, run_in_runtime, command);
}

static kith_error *prepare(int argc, char **argv, struct bench_command *command)
{
    static char program[] = "kith";
    command->is_awaited = topk_fresh_is_awaited();
    TRY(vec_push(&command->arguments, program));
    for (int i = 0; i <= argc; i++)
        TRY(vec_push(&command->arguments, argv[i])); /* the last one is NULL */
    return bench_options_parse(argc, argv, &command->options);
}

int command_bench(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "cancel") == 0)
        return command_bench_cancel(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "fair") == 0)
        return command_bench_fair(argc - 1, argv + 1);
    _cleanup_(bench_command_reset) struct bench_command command = {0};
    _cleanup_(error_free) kith_error *error = prepare(argc, argv, &command);
    if (error != NULL) {
        report_error(error, NULL);
        return 2;
    }
    if (command.options.help) {
        bench_options_print_help();
        return 0;
    }
    error = run(&command);
    if (error != NULL)
        report_error(error, NULL);
    return error == NULL ? 0 : 1;
}
