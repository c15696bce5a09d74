#include "base/vec.h"
#include "cluster/cluster.h"
#include "frontends/cli/attendant.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/local_workers.h"
#include "frontends/cli/options.h"
#include "frontends/cli/print.h"
#include "frontends/cli/report.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

static const char usage[] =
    "kith sql [options] [SQL …]\n"
    "\n"
    "Runs SQL statements and prints their results. Without SQL it is read from standard input.\n"
    "\n"
    "  -t, --table NAME=PATTERN   a table of the Parquet files that the pattern names; may be repeated\n"
    "  -f, --file FILE            reads the SQL from a file\n"
    "  -s, --set NAME=VALUE       changes a setting first; may be repeated\n"
    "      --workers HOST:PORT,…  sends work to these workers\n"
    "      --local-workers N      starts N worker processes for the time of the run\n"
    "      --threads N            threads of this process and of each local worker; 0 = one a processor, which local\n"
    "                             workers share (default)\n"
    "      --format FORMAT        table (default) or csv\n"
    "      --timing               prints how long it took to standard error\n"
    "\n"
    "kith sql -t lineitem='data/*.parquet' \"SELECT * FROM lineitem ORDER BY l_extendedprice DESC LIMIT 10\"\n";

enum { MOST_LOCAL_WORKERS = 64, MOST_THREADS = 1024 };

struct sql_command {
    VEC(char *) tables;    /* NAME=PATTERN, borrowed from argv */
    VEC(char *) settings;  /* NAME=VALUE */
    VEC(char *) addresses; /* of workers; borrowed from `worker_list` or `local` */
    char *worker_list;     /* split at commas */
    size_t local_worker_count;
    size_t threads;
    enum print_format format;
    bool timing;
    struct strbuf sql;
    struct local_workers local;
    bool help;
};

static void sql_command_reset(struct sql_command *command)
{
    vec_reset(&command->tables);
    vec_reset(&command->settings);
    vec_reset(&command->addresses);
    free(command->worker_list);
    strbuf_reset(&command->sql);
    local_workers_stop(&command->local);
}
DEFINE_VALUE_CLEANUP(sql_command_reset, struct sql_command)

static kith_error *read_all(int fd, const char *name, struct strbuf *out)
{
    for (;;) {
        char *end;
        TRY(strbuf_reserve(out, 1 << 16, &end));
        ssize_t n = read(fd, end, 1 << 16);
        if (n < 0 && errno != EINTR)
            return error_from_errno(errno, "cannot read \"%s\"", name);
        if (n == 0)
            return NULL;
        out->length += n > 0 ? (size_t)n : 0;
        out->data[out->length] = '\0';
    }
}

static kith_error *read_file(const char *path, struct strbuf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_from_errno(errno, "cannot open \"%s\"", path);
    kith_error *error = read_all(fd, path, out);
    close(fd);
    return error;
}

static kith_error *add_sql(struct sql_command *command, const char *text)
{
    if (command->sql.length > 0)
        TRY(strbuf_append_text(&command->sql, "\n;\n"));
    return strbuf_append_text(&command->sql, text);
}

static kith_error *set_format(struct sql_command *command, const char *text)
{
    if (strcmp(text, "table") == 0)
        command->format = PRINT_TABLE;
    else if (strcmp(text, "csv") == 0)
        command->format = PRINT_CSV;
    else
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "--format takes table or csv, not \"%s\"", text);
    return NULL;
}

static kith_error *apply_option(struct sql_command *command, int option)
{
    switch (option) {
    case 't':
        return vec_push(&command->tables, optarg);
    case 's':
        return vec_push(&command->settings, optarg);
    case 'f':
        return read_file(optarg, &command->sql);
    case 'w':
        free(command->worker_list);
        return alloc_string(optarg, strlen(optarg), &command->worker_list);
    case 'n':
        return option_count("--local-workers", optarg, MOST_LOCAL_WORKERS, &command->local_worker_count);
    case 'j':
        return option_count("--threads", optarg, MOST_THREADS, &command->threads);
    case 'o':
        return set_format(command, optarg);
    case 'T':
        command->timing = true;
        return NULL;
    case 'h':
        command->help = true;
        return NULL;
    default:
        return option_unknown("sql");
    }
}

static kith_error *parse(int argc, char **argv, struct sql_command *command)
{
    static const struct option options[] = {
        {"table", required_argument, NULL, 't'},   {"file", required_argument, NULL, 'f'},
        {"set", required_argument, NULL, 's'},     {"workers", required_argument, NULL, 'w'},
        {"format", required_argument, NULL, 'o'},  {"local-workers", required_argument, NULL, 'n'},
        {"threads", required_argument, NULL, 'j'}, {"timing", no_argument, NULL, 'T'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    int option;
    while (!command->help && (option = getopt_long(argc, argv, "t:f:s:h", options, NULL)) != -1)
        TRY(apply_option(command, option));
    for (; optind < argc; optind++)
        TRY(add_sql(command, argv[optind]));
    if (command->worker_list != NULL && command->local_worker_count > 0)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "--workers and --local-workers do not go together");
    if (!command->help && command->sql.length == 0)
        return read_all(STDIN_FILENO, "standard input", &command->sql);
    return NULL;
}

static kith_error *split_worker_list(struct sql_command *command)
{
    char *rest = command->worker_list;
    while (rest != NULL) {
        char *address = strsep(&rest, ",");
        if (*address != '\0')
            TRY(vec_push(&command->addresses, address));
    }
    return NULL;
}

static kith_error *prepare_session(struct sql_command *command, struct session *session)
{
    for (size_t i = 0; i < command->settings.length; i++) {
        char *value;
        TRY(option_assignment("--set", command->settings.items[i], &value));
        TRY(session_set(session, command->settings.items[i], value));
    }
    for (size_t i = 0; i < command->tables.length; i++) {
        char *pattern;
        TRY(option_assignment("--table", command->tables.items[i], &pattern));
        TRY(session_add_table(session, command->tables.items[i], pattern, true));
    }
    return NULL;
}

static kith_error *run_sql(struct sql_command *command, struct session *session)
{
    _cleanup_(attendant_stop) struct attendant *attendant = NULL;
    _cleanup_(printer_free) struct printer *printer = NULL;
    struct str sql = {strbuf_text(&command->sql), command->sql.length};
    TRY(printer_new(command->format, &printer));
    TRY(attendant_start(session, isatty(STDERR_FILENO) == 1, &attendant));
    return session_run(session, sql, printer_sink(printer));
}

static kith_error *run_in_runtime(void *argument)
{
    struct sql_command *command = argument;
    _cleanup_(cluster_free) struct cluster *cluster = NULL;
    _cleanup_(session_free) struct session *session = NULL;
    TRY(session_new(runtime_current(), &session));
    TRY(prepare_session(command, session));
    if (command->addresses.length > 0) {
        TRY(cluster_connect(runtime_current(), (const char *const *)command->addresses.items, command->addresses.length,
                            session_settings(session), &cluster));
        session_use_cluster(session, cluster);
    }
    return run_sql(command, session);
}

static kith_error *run(struct sql_command *command)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    const struct runtime_options options = {.threads = command->threads};
    if (command->local_worker_count > 0)
        TRY(local_workers_start(command->local_worker_count, command->threads, &command->local));
    for (size_t i = 0; i < command->local.count; i++)
        TRY(vec_push(&command->addresses, command->local.workers[i].address));
    TRY(split_worker_list(command));
    TRY(runtime_new(&options, &runtime));
    return runtime_run(runtime, run_in_runtime, command);
}

int command_sql(int argc, char **argv)
{
    _cleanup_(sql_command_reset) struct sql_command command = {0};
    _cleanup_(error_free) kith_error *error = parse(argc, argv, &command);
    if (error != NULL) {
        report_error(error, NULL);
        return 2;
    }
    if (command.help) {
        fputs(usage, stdout);
        return 0;
    }
    int64_t start = clock_monotonic_ns(&system_clock);
    attendant_block_signals();
    error = run(&command);
    if (error != NULL)
        report_error(error, strbuf_text(&command.sql));
    if (command.timing)
        fprintf(stderr, "Time: %.3f ms\n", (double)(clock_monotonic_ns(&system_clock) - start) / 1e6);
    return error == NULL ? 0 : 1;
}
