#include "cluster/worker.h"
#include "frontends/cli/attendant.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/options.h"
#include "frontends/cli/report.h"

#include <getopt.h>
#include <stdio.h>

static const char usage[] =
    "kith worker --listen HOST:PORT [options]\n"
    "\n"
    "Runs tasks for coordinators (kith sql --workers HOST:PORT,…) until SIGINT or SIGTERM.\n"
    "\n"
    "  --listen HOST:PORT     where to listen; port 0 lets the system choose\n"
    "  --threads N            threads that run tasks; 0 = one a processor (default)\n"
    "  --memory-limit BYTES   memory that tasks may reserve, such as 4GiB; 0 = no limit (default)\n"
    "  --keepalive TIME       a coordinator silent for so long is given up, such as 5s\n"
    "  --without CAPABILITY   does without it, as an older worker would: topk-bounds; may be repeated\n";

struct worker_command {
    const char *listen;
    size_t threads;
    uint64_t without;
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

static kith_error *stop(void *argument)
{
    struct worker_command *command = argument;
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
        case 'h':
            *help = true;
            return NULL;
        default:
            return option_unknown("worker");
        }
    }
    if (optind < argc)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "kith worker takes no argument \"%s\"", argv[optind]);
    if (command->listen == NULL)
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
    error = run(&command);
    if (error != NULL)
        report_error(error, NULL);
    return error == NULL ? 0 : 1;
}
