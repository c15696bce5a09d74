#include "frontends/bench/cancel_run.h"
#include "frontends/bench/fair_run.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/options.h"
#include "frontends/cli/report.h"
#include "runtime/turns.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char cancel_usage[] =
    "kith bench cancel [options]\n"
    "\n"
    "Measures the time from cancelling a query to nothing left of it, in milliseconds: queries that each keep one\n"
    "operator busy, as many at once as there are threads, embedded and on workers in this process.\n"
    "\n"
    "  -c, --case CASE     such as sort; (default: all)\n"
    "      --place PLACE   embedded or workers (default: both)\n"
    "      --samples N     moments at which the queries of a case are cancelled (default 100)\n";

static const char fair_usage[] =
    "kith bench fair [options]\n"
    "\n"
    "Measures a short query, in milliseconds, alone and beside heavy ones that keep all threads busy.\n"
    "\n"
    "      --heavy N       queries beside (default 8)\n"
    "      --samples N     runs of the short query (default 1000)\n";

static const char common_usage[] = "      --seconds N     that a case may take at most (default 10)\n"
                                   "      --threads N     (default 2)\n"
                                   "      --rows N        of the tables (default 4000000)\n"
                                   "      --data FOLDER   where the tables are kept (default data/bench)\n"
                                   "      --json FILE     writes all numbers\n"
                                   "      --smoke         small tables, few samples: only to see that it works\n";

enum place_choice { PLACE_BOTH, PLACE_EMBEDDED, PLACE_WORKERS };

struct latency_command {
    const char *only_case;
    enum place_choice place;
    size_t samples, seconds, threads, rows, heavy;
    const char *folder, *json_path;
    bool smoke, help;
    struct strbuf json;
};

static kith_error *set_place(struct latency_command *command, const char *text)
{
    if (strcmp(text, "embedded") == 0)
        command->place = PLACE_EMBEDDED;
    else if (strcmp(text, "workers") == 0)
        command->place = PLACE_WORKERS;
    else
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "--place takes embedded or workers, not \"%s\"", text);
    return NULL;
}

static kith_error *apply_option(struct latency_command *command, int option)
{
    switch (option) {
    case 'c':
        command->only_case = optarg;
        return NULL;
    case 'p':
        return set_place(command, optarg);
    case 'n':
        return option_count("--samples", optarg, 1000000, &command->samples);
    case 't':
        return option_count("--seconds", optarg, 100000, &command->seconds);
    case 'j':
        return option_count("--threads", optarg, 64, &command->threads);
    case 'r':
        return option_count("--rows", optarg, 1 << 24, &command->rows);
    case 'q':
        return option_count("--heavy", optarg, FAIR_MOST_HEAVY, &command->heavy);
    case 'd':
        command->folder = optarg;
        return NULL;
    case 'o':
        command->json_path = optarg;
        return NULL;
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

static kith_error *parse_options(int argc, char **argv, struct latency_command *command)
{
    static const struct option options[] = {
        {"case", required_argument, NULL, 'c'},    {"place", required_argument, NULL, 'p'},
        {"samples", required_argument, NULL, 'n'}, {"seconds", required_argument, NULL, 't'},
        {"threads", required_argument, NULL, 'j'}, {"rows", required_argument, NULL, 'r'},
        {"heavy", required_argument, NULL, 'q'},   {"data", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'o'},    {"smoke", no_argument, NULL, 'S'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    int option;
    while (!command->help && (option = getopt_long(argc, argv, "c:h", options, NULL)) != -1)
        TRY(apply_option(command, option));
    if (!command->help && optind != argc)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "the benchmark takes no argument \"%s\"", argv[optind]);
    if (command->smoke) {
        command->rows = 40000;
        command->samples = 2;
        command->heavy = 2;
        command->seconds = 2;
    }
    if (command->rows < 1000 || command->threads == 0)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "there must be a thread and a thousand rows at least");
    return NULL;
}

static kith_error *add_result(struct latency_command *command, const char *place, const char *name,
                              struct latencies *latencies)
{
    char label[128];
    const struct latency_summary summary = latencies_summarise(latencies);
    snprintf(label, sizeof label, "%s%s", strcmp(place, "workers") == 0 ? "workers: " : "", name);
    latency_print(label, &summary);
    TRY(strbuf_printf(&command->json, "%s{\"place\": \"%s\", \"case\": \"%s\", ",
                      command->json.length == 0 ? "" : ",\n", place, name));
    TRY(latency_json(&summary, &command->json));
    return strbuf_append_text(&command->json, "}");
}

static kith_error *cancel_in_place(struct latency_command *command, size_t workers)
{
    _cleanup_(bench_place_close) struct bench_place place = {
        .folder = command->folder, .rows = command->rows, .workers = workers};
    const struct cancel_limits limits = {.samples = command->samples,
                                         .ns = (int64_t)command->seconds * NANOSECONDS_PER_SECOND};
    TRY(bench_place_open(&place));
    for (size_t i = 0; i < cancel_case_count; i++) {
        _cleanup_(latencies_reset) struct latencies latencies = {0};
        if (command->only_case != NULL && strcmp(command->only_case, cancel_cases[i].name) != 0)
            continue;
        TRY(cancel_case_run(&cancel_cases[i], &place, &limits, &latencies));
        TRY(add_result(command, workers > 0 ? "workers" : "embedded", cancel_cases[i].name, &latencies));
    }
    return NULL;
}

static kith_error *run_cancel(void *argument)
{
    enum { WORKERS = 2 };
    struct latency_command *command = argument;
    latency_print_head("cancel to nothing left, ms");
    if (command->place != PLACE_WORKERS)
        TRY(cancel_in_place(command, 0));
    return command->place == PLACE_EMBEDDED ? NULL : cancel_in_place(command, WORKERS);
}

static kith_error *run_fair(void *argument)
{
    struct latency_command *command = argument;
    _cleanup_(fair_result_reset) struct fair_result result = {0};
    _cleanup_(bench_place_close) struct bench_place place = {.folder = command->folder, .rows = command->rows};
    const struct fair_limits limits = {
        .heavy = command->heavy, .samples = command->samples, .ns = (int64_t)command->seconds * NANOSECONDS_PER_SECOND};
    TRY(bench_place_open(&place));
    latency_print_head("a short query, ms");
    TRY(fair_run(&place, &limits, &result));
    TRY(add_result(command, "embedded", "alone", &result.alone));
    TRY(add_result(command, "embedded", "beside heavy queries", &result.beside));
    printf("%zu heavy queries beside, of which %zu runs ended\n", command->heavy, result.heavy_runs);
    return NULL;
}

static kith_error *write_json(const struct latency_command *command)
{
    FILE *file = fopen(command->json_path, "we");
    if (file == NULL)
        return error_from_errno(errno, "cannot write \"%s\"", command->json_path);
    bool written = fprintf(file, "{\"threads\": %zu, \"rows\": %zu, \"results\": [\n%s\n]}\n", command->threads,
                           command->rows, strbuf_text(&command->json)) > 0;
    if (fclose(file) != 0 || !written)
        return error_from_errno(errno, "cannot write \"%s\"", command->json_path);
    return NULL;
}

static kith_error *run(struct latency_command *command, kith_error *(*body)(void *))
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    struct runtime_turns turns;
    double load;
    if (getloadavg(&load, 1) == 1)
        printf("%zu threads, tables of %zu rows; load before: %.1f\n", command->threads, command->rows, load);
    TRY(runtime_new(&(struct runtime_options){.threads = command->threads}, &runtime));
    TRY(runtime_run(runtime, body, command));
    runtime_read_turns(runtime, &turns);
    printf("turns: %llu, forced yields: %llu, longest: %.1f ms\n", (unsigned long long)turns.turns,
           (unsigned long long)turns.forced_yields, (double)turns.longest_ns / 1e6);
    return command->json_path == NULL ? NULL : write_json(command);
}

static int command_latency(int argc, char **argv, const char *usage, size_t samples, kith_error *(*body)(void *))
{
    struct latency_command command = {
        .samples = samples, .seconds = 10, .threads = 2, .rows = 4000000, .heavy = 8, .folder = "data/bench"};
    _cleanup_(error_free) kith_error *error = parse_options(argc, argv, &command);
    if (error != NULL) {
        report_error(error, NULL);
        return 2;
    }
    if (command.help) {
        fputs(usage, stdout);
        fputs(common_usage, stdout);
        return 0;
    }
    error = run(&command, body);
    if (error != NULL)
        report_error(error, NULL);
    strbuf_reset(&command.json);
    return error == NULL ? 0 : 1;
}

int command_bench_cancel(int argc, char **argv)
{
    return command_latency(argc, argv, cancel_usage, 100, run_cancel);
}

int command_bench_fair(int argc, char **argv)
{
    return command_latency(argc, argv, fair_usage, 1000, run_fair);
}
