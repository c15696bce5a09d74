#include "frontends/cli/commands.h"

#include "base/log.h"
#include "base/macros.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char usage[] = "kith: SQL over Parquet files, in one process or many\n"
                            "\n"
                            "  kith sql [options] \"SELECT …\"     runs statements and prints what they give\n"
                            "  kith worker --listen HOST:PORT    runs tasks for coordinators\n"
                            "  kith bench topk                   measures Top-K queries with ideas on and off\n"
                            "  kith version\n"
                            "\n"
                            "kith sql --help and the like list the options.\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    enum log_level log_level;
} commands[] = {
    {"sql", command_sql, LOG_LEVEL_ERROR},
    {"worker", command_worker, LOG_LEVEL_WARN},
    {"bench", command_bench, LOG_LEVEL_ERROR},
};

/* Pages and dictionaries of a column chunk are allocated and freed by the megabyte. By default glibc gives such memory
 * back to the system each time, and the page faults of getting it again took a fifth of a scan's CPU
 * (docs/performance.md). */
static void keep_freed_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_TOP_PAD, 16 << 20);
}

int main(int argc, char **argv)
{
    keep_freed_memory();
    const char *name = argc < 2 ? "" : argv[1];
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        if (strcmp(name, commands[i].name) != 0)
            continue;
        log_set_level(commands[i].log_level);
        return commands[i].run(argc - 1, argv + 1);
    }
    if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0) {
        puts("kith " KITH_VERSION);
        return 0;
    }
    bool asked = strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    if (!asked && name[0] != '\0')
        fprintf(stderr, "kith: there is no command \"%s\"\n\n", name);
    fputs(usage, asked ? stdout : stderr);
    return asked ? 0 : 2;
}
