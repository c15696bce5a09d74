#include "frontends/cli/commands.h"

#include "base/macros.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char usage[] = "kith: SQL over Parquet files, in one process or many\n"
                            "\n"
                            "  kith sql [options] \"SELECT …\"     runs statements and prints what they give\n"
                            "  kith worker --listen HOST:PORT    runs tasks for coordinators\n"
                            "  kith version\n"
                            "\n"
                            "kith sql --help and kith worker --help list the options.\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"sql", command_sql},
    {"worker", command_worker},
};

int main(int argc, char **argv)
{
    const char *name = argc < 2 ? "" : argv[1];
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
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
