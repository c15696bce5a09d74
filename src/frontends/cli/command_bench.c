#include "base/vec.h"
#include "frontends/bench/topk_report.h"
#include "frontends/cli/attendant.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/options.h"
#include "frontends/cli/report.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

static const char usage[] =
    "kith bench topk [options]      (and kith bench cancel, kith bench fair: see their --help)\n"
    "\n"
    "Measures Top-K queries over worker processes of its own, with ideas of the engine on and off, in pairs whose "
    "order\n"
    "alternates; every query's values are checked. docs/benchmark-topk.md tells what each case shows.\n"
    "\n"
    "  -c, --case CASE     such as overlap/8; may be repeated (default: all)\n"
    "      --against ARM   what \"all\" is compared with; may be repeated (default: no-sharing)\n"
    "  -s, --set NAME=VALUE  changes a setting in all arms; may be repeated\n"
    "      --ideas         compares with every arm\n"
    "      --pairs N       (default 5)\n"
    "      --queries N     of an arm in a pair (default 5)\n"
    "      --threads N     of each worker (default 2)\n"
    "      --codec CODEC   uncompressed (default) or zstd\n"
    "      --data FOLDER   where the tables are kept (default data/bench)\n"
    "      --json FILE     writes all numbers\n"
    "      --smoke         small tables, one pair: only to see that it works\n"
    "\n"
    "With the environment variable TOPK_RESOURCE_CASE it runs that case TOPK_RESOURCE_QUERIES times (20) with the arm\n"
    "TOPK_RESOURCE_ARM (all), between the lines resource_begin and resource_end.\n";

struct bench_command {
    VEC(struct topk_case) cases;
    VEC(const struct topk_arm *) against;
    VEC(struct topk_setting) settings;
    struct topk_setup setup;
    struct fixture fixture; /* but for its layout */
    const char *json_path;
    bool smoke, help;
    const char *resource_arm; /* NULL: pairs */
    struct local_workers workers;
    struct strbuf json;
};

static void bench_command_reset(struct bench_command *command)
{
    vec_reset(&command->cases);
    vec_reset(&command->against);
    vec_reset(&command->settings);
    strbuf_reset(&command->json);
    local_workers_stop(&command->workers);
}
DEFINE_VALUE_CLEANUP(bench_command_reset, struct bench_command)

static kith_error *add_case(struct bench_command *command, const char *name)
{
    struct topk_case topk_case;
    TRY(topk_case_find(name, &topk_case));
    return vec_push(&command->cases, topk_case);
}

static kith_error *add_arm(struct bench_command *command, const char *name)
{
    const struct topk_arm *arm;
    TRY(topk_arm_find(name, &arm));
    return vec_push(&command->against, arm);
}

static kith_error *add_all_arms(struct bench_command *command)
{
    for (size_t i = TOPK_ARM_NO_SHARING; i < topk_arm_count; i++)
        TRY(vec_push(&command->against, &topk_arms[i]));
    return NULL;
}

static kith_error *add_setting(struct bench_command *command, char *option)
{
    struct topk_setting setting = {.name = option};
    char *value;
    TRY(option_assignment("--set", option, &value));
    setting.value = value;
    return vec_push(&command->settings, setting);
}

static kith_error *set_codec(struct bench_command *command, const char *text)
{
    if (strcmp(text, "zstd") != 0 && strcmp(text, "uncompressed") != 0)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "--codec takes uncompressed or zstd, not \"%s\"", text);
    command->setup.zstd = command->fixture.zstd = strcmp(text, "zstd") == 0;
    return NULL;
}

static kith_error *apply_option(struct bench_command *command, int option)
{
    switch (option) {
    case 'c':
        return add_case(command, optarg);
    case 'a':
        return add_arm(command, optarg);
    case 'i':
        return add_all_arms(command);
    case 'p':
        return option_count("--pairs", optarg, TOPK_MOST_PAIRS, &command->setup.pairs);
    case 'q':
        return option_count("--queries", optarg, 10000, &command->setup.queries);
    case 'j':
        return option_count("--threads", optarg, 1024, &command->setup.threads);
    case 'z':
        return set_codec(command, optarg);
    case 'd':
        command->fixture.folder = optarg;
        return NULL;
    case 'o':
        command->json_path = optarg;
        return NULL;
    case 's':
        return add_setting(command, optarg);
    case 'S':
        command->smoke = true;
        return NULL;
    case 'h':
        command->help = true;
        return NULL;
    default:
        return option_unknown("bench");
    }
}

static kith_error *parse_options(int argc, char **argv, struct bench_command *command)
{
    static const struct option options[] = {
        {"case", required_argument, NULL, 'c'},
        {"against", required_argument, NULL, 'a'},
        {"ideas", no_argument, NULL, 'i'},
        {"pairs", required_argument, NULL, 'p'},
        {"queries", required_argument, NULL, 'q'},
        {"threads", required_argument, NULL, 'j'},
        {"codec", required_argument, NULL, 'z'},
        {"data", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'o'},
        {"smoke", no_argument, NULL, 'S'},
        {"set", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while (!command->help && (option = getopt_long(argc, argv, "c:s:h", options, NULL)) != -1)
        TRY(apply_option(command, option));
    if (!command->help && (optind + 1 != argc || strcmp(argv[optind], "topk") != 0))
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "kith bench runs one of the benchmarks topk, cancel and fair");
    return NULL;
}

/* The source's way of asking for fixed work. */
static kith_error *parse_environment(struct bench_command *command)
{
    const char *name = getenv("TOPK_RESOURCE_CASE"), *queries = getenv("TOPK_RESOURCE_QUERIES");
    const char *arm = getenv("TOPK_RESOURCE_ARM");
    if (name == NULL)
        return NULL;
    command->cases.length = command->against.length = 0;
    command->resource_arm = arm == NULL ? topk_arms[TOPK_ARM_ALL].name : arm;
    command->setup.queries = 20;
    if (queries != NULL)
        TRY(option_count("TOPK_RESOURCE_QUERIES", queries, 10000, &command->setup.queries));
    TRY(add_case(command, name));
    return add_arm(command, command->resource_arm);
}

static kith_error *fill_defaults(struct bench_command *command)
{
    bool all_cases = command->cases.length == 0;
    for (size_t i = 0; all_cases && i < topk_default_case_count; i++)
        if (!(topk_default_cases[i].query->embedded && command->fixture.zstd)) /* the loop reads plain pages */
            TRY(vec_push(&command->cases, topk_default_cases[i]));
    if (command->against.length == 0)
        TRY(vec_push(&command->against, &topk_arms[TOPK_ARM_NO_SHARING]));
    if (command->smoke)
        command->setup.pairs = command->setup.queries = 1;
    if (command->setup.pairs == 0 || command->setup.queries == 0)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "there must be a pair and a query at least");
    command->fixture.files = FIXTURE_MOST_FILES;
    command->fixture.groups = command->smoke ? 4 : 32;
    command->fixture.group_rows = command->smoke ? 3000 : 65536;
    return NULL;
}

static kith_error *run_pair(struct topk_run *run, struct topk_comparison *comparison, size_t queries)
{
    size_t pair = comparison->pairs;
    if (pair % 2 == 0)
        TRY(topk_run_block(run, comparison->candidate, queries, &comparison->candidate_blocks[pair]));
    TRY(topk_run_block(run, comparison->baseline, queries, &comparison->baseline_blocks[pair]));
    if (pair % 2 != 0)
        TRY(topk_run_block(run, comparison->candidate, queries, &comparison->candidate_blocks[pair]));
    comparison->pairs++;
    return NULL;
}

static kith_error *compare(struct bench_command *command, const struct topk_case *topk_case, struct topk_run *run,
                           const struct topk_arm *baseline)
{
    _cleanup_free_ struct topk_comparison *comparison = NULL;
    struct topk_block warm_up;
    TRY(NEW(&comparison));
    comparison->topk_case = topk_case;
    comparison->candidate = &topk_arms[TOPK_ARM_ALL];
    comparison->baseline = baseline;
    comparison->bytes_there = topk_run_bytes_there(run);
    comparison->row_groups_there = topk_run_row_groups(run);
    TRY(topk_run_block(run, comparison->candidate, 1, &warm_up));
    TRY(topk_run_block(run, comparison->baseline, 1, &warm_up));
    while (comparison->pairs < command->setup.pairs)
        TRY(run_pair(run, comparison, command->setup.queries));
    topk_report_line(comparison);
    return topk_json_add(comparison, &command->json);
}

static kith_error *new_run(const struct bench_command *command, const struct topk_case *topk_case,
                           struct topk_run **out)
{
    const struct topk_run_options options = {
        .topk_case = *topk_case,
        .fixture = command->fixture,
        .workers = &command->workers,
        .settings = command->settings.items,
        .setting_count = command->settings.length,
    };
    return topk_run_new(&options, out);
}

static kith_error *run_case(struct bench_command *command, const struct topk_case *topk_case)
{
    _cleanup_(topk_run_free) struct topk_run *run = NULL;
    TRY(new_run(command, topk_case, &run));
    if (topk_case->query->embedded)
        return compare(command, topk_case, run, &topk_loop_arm);
    for (size_t i = 0; i < command->against.length; i++)
        TRY(compare(command, topk_case, run, command->against.items[i]));
    return NULL;
}

static kith_error *write_json(const struct bench_command *command)
{
    FILE *file = fopen(command->json_path, "we");
    if (file == NULL)
        return error_from_errno(errno, "cannot write \"%s\"", command->json_path);
    size_t written = fwrite(command->json.data, 1, command->json.length, file);
    if (fclose(file) != 0 || written != command->json.length)
        return error_from_errno(errno, "cannot write \"%s\"", command->json_path);
    return NULL;
}

static kith_error *run_pairs(struct bench_command *command)
{
    topk_report_head(&command->setup);
    TRY(topk_json_begin(&command->setup, &command->json));
    for (size_t i = 0; i < command->cases.length; i++)
        TRY(run_case(command, &command->cases.items[i]));
    TRY(topk_json_end(&command->json));
    return command->json_path == NULL ? NULL : write_json(command);
}

/* Fixed work in processes that have done nothing else but one query to warm up. */
static kith_error *run_fixed_work(struct bench_command *command)
{
    const struct topk_case *topk_case = &command->cases.items[0];
    const struct topk_arm *arm = command->against.items[0];
    _cleanup_(topk_run_free) struct topk_run *run = NULL;
    struct topk_block block;
    TRY(new_run(command, topk_case, &run));
    TRY(topk_run_block(run, arm, 1, &block));
    topk_run_reset_peaks(run);
    puts("resource_begin");
    fflush(stdout);
    TRY(topk_run_block(run, arm, command->setup.queries, &block));
    uint64_t peak = topk_run_peak_bytes(run);
    puts("resource_end");
    TRY(strbuf_printf(&command->json, "{\"case\": \"%s/%zu\", \"arm\": \"%s\", \"peak_rss_bytes\": %llu, \"block\": ",
                      topk_case->query->name, topk_case->tasks, arm->name, (unsigned long long)peak));
    TRY(topk_json_block(&block, &command->json));
    printf("%s}\n", strbuf_text(&command->json));
    return NULL;
}

static kith_error *run_in_runtime(void *argument)
{
    struct bench_command *command = argument;
    return command->resource_arm == NULL ? run_pairs(command) : run_fixed_work(command);
}

static kith_error *run(struct bench_command *command)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    const struct runtime_options options = {.threads = command->setup.threads};
    size_t workers = 0;
    for (size_t i = 0; i < command->cases.length; i++)
        workers = MAX(workers, topk_case_workers(&command->cases.items[i]));
    TRY(local_workers_start(workers, command->setup.threads, &command->workers));
    TRY(runtime_new(&options, &runtime));
    return runtime_run(runtime, run_in_runtime, command);
}

static kith_error *prepare(int argc, char **argv, struct bench_command *command)
{
    TRY(parse_options(argc, argv, command));
    TRY(parse_environment(command));
    if (getloadavg(&command->setup.load, 1) != 1)
        command->setup.load = -1;
    return fill_defaults(command);
}

int command_bench(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "cancel") == 0)
        return command_bench_cancel(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "fair") == 0)
        return command_bench_fair(argc - 1, argv + 1);
    _cleanup_(bench_command_reset) struct bench_command command = {.setup = {.pairs = 5, .queries = 5, .threads = 2},
                                                                   .fixture = {.folder = "data/bench"}};
    _cleanup_(error_free) kith_error *error = prepare(argc, argv, &command);
    if (error != NULL) {
        report_error(error, NULL);
        return 2;
    }
    if (command.help) {
        fputs(usage, stdout);
        for (size_t i = 0; i < topk_arm_count; i++)
            printf("%s  %-15s %s\n", i == 0 ? "\nArms:\n" : "", topk_arms[i].name, topk_arms[i].what);
        return 0;
    }
    error = run(&command);
    if (error != NULL)
        report_error(error, NULL);
    return error == NULL ? 0 : 1;
}
