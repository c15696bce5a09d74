#include "base/log.h"
#include "cluster/cluster.h"
#include "cluster/worker.h"
#include "frontends/cli/attendant.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/options.h"
#include "frontends/cli/report.h"

#include <getopt.h>
#include <stdio.h>

static const char usage[] =
    "kith worker --listen HOST:PORT [options]\n"
    "kith worker --status HOST:PORT [--format text|json]\n"
    "\n"
    "Runs tasks for coordinators (kith sql --workers HOST:PORT,…) until SIGINT or SIGTERM; or prints what a worker "
    "that\n"
    "runs has done so far.\n"
    "\n"
    "  --listen HOST:PORT     where to listen; port 0 lets the system choose\n"
    "  --threads N            threads that run tasks; 0 = one a processor (default)\n"
    "  --memory-limit BYTES   memory that tasks may reserve, such as 4GiB; 0 = no limit (default)\n"
    "  --keepalive TIME       a coordinator silent for so long is given up, such as 5s\n"
    "  --without CAPABILITY   does without it, as an older worker would: topk-bounds,\n"
    "                         topk-ranks; may be repeated\n"
    "  --quiet                logs errors alone, and not at its end what it has done\n"
    "  --status HOST:PORT     the worker to ask for its counters\n"
    "  --format FORMAT        of these: text (default) or json\n";

struct worker_command {
    const char *listen;
    size_t threads;
    uint64_t without;
    bool quiet;
    const char *status; /* the worker to ask */
    bool json;
    struct settings settings;
    struct worker *worker;
};

static kith_error *start(void *argument)
{
    struct worker_command *command = argument;
    const struct worker_options options = {
        .keepalive_ms = settings_get(&command->settings, SETTING_KEEPALIVE),
        .memory_limit = (uint64_t)settings_get(&command->settings, SETTING_MEMORY_LIMIT),
        .without = command->without,
    };
    const char *address;
    TRY(worker_new(runtime_current(), &options, &command->worker));
    TRY(worker_listen(command->worker, command->listen, &address));
    printf("kith worker listening on %s\n", address);
    fflush(stdout);
    return NULL;
}

static kith_error *log_status(struct worker *worker)
{
    struct worker_status status;
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    worker_read_status(worker, &status);
    TRY(worker_status_format(&status, ", ", &text));
    log_set_level(LOG_LEVEL_INFO);
    log_info("worker ends: %s", strbuf_text(&text));
    log_set_level(LOG_LEVEL_WARN); /* what becomes of tasks that it ends is no news */
    return NULL;
}

static kith_error *stop(void *argument)
{
    struct worker_command *command = argument;
    if (command->worker != NULL && !command->quiet)
        TRY(log_status(command->worker));
    worker_free(TAKE(command->worker));
    return NULL;
}

static kith_error *run(struct worker_command *command)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    const struct runtime_options options = {.threads = command->threads};
    TRY(runtime_new(&options, &runtime));
    kith_error *error = runtime_run(runtime, start, command);
    if (error == NULL)
        attendant_wait_for_signal();
    kith_error *stop_error = runtime_run(runtime, stop, command);
    if (error == NULL)
        return stop_error;
    error_free(stop_error);
    return error;
}

static kith_error *print_status(void *argument)
{
    const struct worker_command *command = argument;
    _cleanup_(cluster_free) struct cluster *cluster = NULL;
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct worker_status status;
    int64_t deadline_ns = clock_monotonic_ns(&system_clock) +
                          settings_get(&command->settings, SETTING_CONNECT_TIMEOUT) * NANOSECONDS_PER_MILLISECOND;
    TRY(cluster_connect(runtime_current(), &command->status, 1, &command->settings, &cluster));
    TRY(cluster_ask_status(cluster, 0, deadline_ns, &arena, &status));
    if (command->json)
        TRY(worker_status_write(&status, command->status, &text));
    else
        TRY(worker_status_format(&status, "\n", &text));
    printf("%s%s", strbuf_text(&text), command->json ? "" : "\n");
    return NULL;
}

static kith_error *ask(struct worker_command *command)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    TRY(runtime_new(&(struct runtime_options){.threads = 1}, &runtime));
    return runtime_run(runtime, print_status, command);
}

static kith_error *set_format(struct worker_command *command, const char *text)
{
    command->json = strcmp(text, "json") == 0;
    if (command->json || strcmp(text, "text") == 0)
        return NULL;
    return error_new(KITH_ERROR_INVALID_ARGUMENT, "--format takes text or json, not \"%s\"", text);
}

static kith_error *add_capability(const char *name, uint64_t *capabilities)
{
#define ADD_CAPABILITY(id, bit, capability_name) \
    if (strcmp(name, capability_name) == 0) {    \
        *capabilities |= (bit);                  \
        return NULL;                             \
    }
    KITH_WORKER_CAPABILITIES(ADD_CAPABILITY)
#undef ADD_CAPABILITY
    return error_new(KITH_ERROR_INVALID_ARGUMENT, "--without takes the name of a capability, which \"%s\" is not",
                     name);
}

static kith_error *parse(int argc, char **argv, struct worker_command *command, bool *help)
{
    static const struct option options[] = {
        {"listen", required_argument, NULL, 'l'},
        {"threads", required_argument, NULL, 'j'},
        {"memory-limit", required_argument, NULL, 'm'},
        {"keepalive", required_argument, NULL, 'k'},
        {"without", required_argument, NULL, 'w'},
        {"quiet", no_argument, NULL, 'q'},
        {"status", required_argument, NULL, 's'},
        {"format", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case 'l':
            command->listen = optarg;
            break;
        case 'j':
            TRY(option_count("--threads", optarg, 1024, &command->threads));
            break;
        case 'm':
            TRY(settings_set(&command->settings, SETTING_MEMORY_LIMIT, optarg));
            break;
        case 'k':
            TRY(settings_set(&command->settings, SETTING_KEEPALIVE, optarg));
            break;
        case 'w':
            TRY(add_capability(optarg, &command->without));
            break;
        case 'q':
            command->quiet = true;
            log_set_level(LOG_LEVEL_ERROR);
            break;
        case 's':
            command->status = optarg;
            break;
        case 'o':
            TRY(set_format(command, optarg));
            break;
        case 'h':
            *help = true;
            return NULL;
        default:
            return option_unknown("worker");
        }
    }
    if (optind < argc)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "kith worker takes no argument \"%s\"", argv[optind]);
    if (command->listen != NULL && command->status != NULL)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "--listen and --status do not go together");
    if (command->listen == NULL && command->status == NULL)
        return error_hint(error_new(KITH_ERROR_INVALID_ARGUMENT, "--listen HOST:PORT is missing"),
                          "kith worker --listen 127.0.0.1:50051");
    return NULL;
}

int command_worker(int argc, char **argv)
{
    struct worker_command command = {0};
    bool help = false;
    settings_init(&command.settings);
    _cleanup_(error_free) kith_error *error = parse(argc, argv, &command, &help);
    if (error != NULL) {
        report_error(error, NULL);
        return 2;
    }
    if (help) {
        fputs(usage, stdout);
        return 0;
    }
    attendant_block_signals();
    error = command.status != NULL ? ask(&command) : run(&command);
    if (error != NULL)
        report_error(error, NULL);
    return error == NULL ? 0 : 1;
}
