#include "frontends/cli/bench_options.h"

#include "frontends/cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "kith bench topk [options]      (and kith bench cancel, kith bench fair: see their --help)\n"
    "\n"
    "Measures Top-K queries over worker processes of its own, with ideas of the engine on and off, in pairs whose "
    "order\n"
    "alternates; every query's values are checked. docs/benchmark-topk.md tells what each case shows.\n"
    "\n"
    "  -c, --case CASE     such as overlap/8; may be repeated (default: all)\n"
    "      --candidate ARM what is measured (default: all)\n"
    "      --against ARM   what it is compared with; may be repeated (default: no-sharing)\n"
    "      --ideas         compares with every arm\n"
    "  -s, --set NAME=VALUE  changes a setting in all arms; may be repeated\n"
    "      --fresh         fixed work in fresh processes, with their memory, rather than turns of the same ones\n"
    "      --sweep N       what 1, 2, 4 ... N tasks tell each other for the same work, rather than pairs\n"
    "      --pairs N       (default 11; 5 with --fresh)\n"
    "      --precision P   more pairs, until the medians of time and CPU are known to +-P, such as 0.005\n"
    "      --most-pairs N  at which --precision gives up (default 1000)\n"
    "      --queries N     of an arm in a turn (default 2; 20 with --fresh and --sweep)\n"
    "      --threads N     of each worker (default 2; 1 with --sweep)\n"
    "      --codec CODEC   uncompressed (default) or zstd\n"
    "      --data FOLDER   where the tables are kept (default data/bench)\n"
    "      --json FILE     writes all numbers\n"
    "      --answers FILE  writes the rows that each arm gave to each case's query\n"
    "      --smoke         small tables, one pair: only to see that it works\n"
    "\n"
    "With the environment variable TOPK_RESOURCE_CASE it runs that case TOPK_RESOURCE_QUERIES times (20) with the arm\n"
    "TOPK_RESOURCE_ARM (all), between the lines resource_begin and resource_end.\n";

static kith_error *add_case(struct bench_options *options, const char *name)
{
    struct topk_case topk_case;
    TRY(topk_case_find(name, &topk_case));
    return vec_push(&options->cases, topk_case);
}

static kith_error *add_arm(struct bench_options *options, const char *name)
{
    const struct topk_arm *arm;
    TRY(topk_arm_find(name, &arm));
    return vec_push(&options->against, arm);
}

static kith_error *add_all_arms(struct bench_options *options)
{
    for (size_t i = TOPK_ARM_NO_SHARING; i < topk_arm_count; i++)
        TRY(vec_push(&options->against, &topk_arms[i]));
    return NULL;
}

/* In a copy: the arguments go to fresh processes as they were given. */
static kith_error *add_setting(struct bench_options *options, const char *option)
{
    struct topk_setting setting;
    char *text, *value;
    TRY(vec_reserve(&options->setting_texts, 1));
    TRY(alloc_string(option, strlen(option), &text));
    options->setting_texts.items[options->setting_texts.length++] = text;
    TRY(option_assignment("--set", text, &value));
    setting = (struct topk_setting){.name = text, .value = value};
    return vec_push(&options->settings, setting);
}

static kith_error *set_precision(struct bench_options *options, const char *text)
{
    char *end;
    options->setup.pairing.precision = strtod(text, &end);
    if (*end != '\0' || !(options->setup.pairing.precision > 0 && options->setup.pairing.precision < 1))
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "--precision takes a fraction such as 0.005, not \"%s\"", text);
    return NULL;
}

static kith_error *set_pairs(const char *option, const char *text, size_t *out)
{
    TRY(option_count(option, text, TOPK_MOST_PAIRS, out));
    return *out > 0 ? NULL : error_new(KITH_ERROR_INVALID_ARGUMENT, "%s takes 1 or more", option);
}

static kith_error *set_codec(struct bench_options *options, const char *text)
{
    if (strcmp(text, "zstd") != 0 && strcmp(text, "uncompressed") != 0)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "--codec takes uncompressed or zstd, not \"%s\"", text);
    options->setup.zstd = options->fixture.zstd = strcmp(text, "zstd") == 0;
    return NULL;
}

static kith_error *apply_option(struct bench_options *options, int option)
{
    struct topk_pairing *pairing = &options->setup.pairing;
    switch (option) {
    case 'c':
        return add_case(options, optarg);
    case 'C':
        return topk_arm_find(optarg, &options->candidate);
    case 'a':
        return add_arm(options, optarg);
    case 'i':
        return add_all_arms(options);
    case 'f':
        options->mode = BENCH_FRESH;
        return NULL;
    case 'w':
        options->mode = BENCH_SWEEP;
        return option_count("--sweep", optarg, TOPK_MOST_TASKS, &options->sweep_tasks);
    case 'p':
        return set_pairs("--pairs", optarg, &pairing->pairs);
    case 'm':
        return set_pairs("--most-pairs", optarg, &pairing->most_pairs);
    case 'P':
        return set_precision(options, optarg);
    case 'q':
        return option_count("--queries", optarg, 10000, &pairing->queries);
    case 'j':
        return option_count("--threads", optarg, 1024, &options->setup.threads);
    case 'z':
        return set_codec(options, optarg);
    case 'd':
        options->fixture.folder = optarg;
        return NULL;
    case 'o':
        options->json_path = optarg;
        return NULL;
    case 'A':
        options->answers_path = optarg;
        return NULL;
    case 's':
        return add_setting(options, optarg);
    case 'S':
        options->smoke = true;
        return NULL;
    case 'h':
        options->help = true;
        return NULL;
    default:
        return option_unknown("bench");
    }
}

static kith_error *parse_arguments(int argc, char **argv, struct bench_options *options)
{
    static const struct option names[] = {
        {"case", required_argument, NULL, 'c'},
        {"candidate", required_argument, NULL, 'C'},
        {"against", required_argument, NULL, 'a'},
        {"ideas", no_argument, NULL, 'i'},
        {"fresh", no_argument, NULL, 'f'},
        {"sweep", required_argument, NULL, 'w'},
        {"pairs", required_argument, NULL, 'p'},
        {"most-pairs", required_argument, NULL, 'm'},
        {"precision", required_argument, NULL, 'P'},
        {"queries", required_argument, NULL, 'q'},
        {"threads", required_argument, NULL, 'j'},
        {"codec", required_argument, NULL, 'z'},
        {"data", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'o'},
        {"answers", required_argument, NULL, 'A'},
        {"smoke", no_argument, NULL, 'S'},
        {"set", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while (!options->help && (option = getopt_long(argc, argv, "c:s:h", names, NULL)) != -1)
        TRY(apply_option(options, option));
    if (!options->help && (optind + 1 != argc || strcmp(argv[optind], "topk") != 0))
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "kith bench runs one of the benchmarks topk, cancel and fair");
    return NULL;
}

/* The source's way of asking for fixed work. */
static kith_error *parse_environment(struct bench_options *options)
{
    const char *name = getenv("TOPK_RESOURCE_CASE"), *queries = getenv("TOPK_RESOURCE_QUERIES");
    const char *arm = getenv("TOPK_RESOURCE_ARM");
    if (name == NULL)
        return NULL;
    options->mode = BENCH_FIXED_WORK;
    options->cases.length = 0;
    options->candidate = NULL;
    options->setup.pairing.queries = 0;
    if (queries != NULL)
        TRY(option_count("TOPK_RESOURCE_QUERIES", queries, 10000, &options->setup.pairing.queries));
    if (arm != NULL)
        TRY(topk_arm_find(arm, &options->candidate));
    return add_case(options, name);
}

static void fill_numbers(struct bench_options *options)
{
    struct topk_pairing *pairing = &options->setup.pairing;
    bool in_turns = options->mode == BENCH_PAIRS;
    if (pairing->pairs == 0)
        pairing->pairs = options->smoke ? 1 : in_turns ? 11 : 5;
    if (pairing->most_pairs == 0)
        pairing->most_pairs = TOPK_MOST_PAIRS;
    if (pairing->queries == 0)
        pairing->queries = options->smoke ? 1 : in_turns ? 2 : 20;
    pairing->both_orders = in_turns;
    options->setup.fresh = options->mode == BENCH_FRESH;
    if (options->setup.threads == 0)
        options->setup.threads = options->mode == BENCH_SWEEP ? 1 : 2;
    if (getloadavg(&options->setup.load, 1) != 1)
        options->setup.load = -1;
    options->fixture.files = FIXTURE_MOST_FILES;
    options->fixture.groups = options->smoke ? 4 : 32;
    options->fixture.group_rows = options->smoke ? 3000 : 65536;
}

/* The plain loop is compared with in turns only, and reads plain pages. */
static bool is_possible(const struct bench_options *options, const struct topk_case *topk_case)
{
    return !topk_case->query->embedded || (options->mode == BENCH_PAIRS && !options->fixture.zstd);
}

static kith_error *fill_cases(struct bench_options *options)
{
    bool all_cases = options->cases.length == 0;
    for (size_t i = 0; all_cases && i < topk_default_case_count; i++)
        if (is_possible(options, &topk_default_cases[i]))
            TRY(vec_push(&options->cases, topk_default_cases[i]));
    for (size_t i = 0; i < options->cases.length; i++)
        if (!is_possible(options, &options->cases.items[i]))
            return error_new(KITH_ERROR_INVALID_ARGUMENT,
                             "the case loop runs in turns over uncompressed files only, not with --fresh or --codec");
    if (options->candidate == NULL)
        options->candidate = &topk_arms[TOPK_ARM_ALL];
    if (options->against.length == 0)
        TRY(vec_push(&options->against, &topk_arms[TOPK_ARM_NO_SHARING]));
    return NULL;
}

kith_error *bench_options_parse(int argc, char **argv, struct bench_options *out)
{
    *out = (struct bench_options){.fixture = {.folder = "data/bench"}};
    TRY(parse_arguments(argc, argv, out));
    TRY(parse_environment(out));
    fill_numbers(out);
    return fill_cases(out);
}

void bench_options_reset(struct bench_options *options)
{
    for (size_t i = 0; i < options->setting_texts.length; i++)
        free(options->setting_texts.items[i]);
    vec_reset(&options->cases);
    vec_reset(&options->against);
    vec_reset(&options->settings);
    vec_reset(&options->setting_texts);
}

void bench_options_print_help(void)
{
    fputs(usage, stdout);
    for (size_t i = 0; i < topk_arm_count; i++)
        printf("%s  %-15s %s\n", i == 0 ? "\nArms:\n" : "", topk_arms[i].name, topk_arms[i].what);
}
