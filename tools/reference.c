/* Prints docs/reference.md: every setting, limit and error code, from the tables that the program itself is made of. */
#include "base/limits.h"
#include "base/settings.h"
#include "base/strbuf.h"
#include "cluster/sharing_counters.h"
#include "wire/worker_status.h"

#include <stdio.h>
#include <string.h>

static const char introduction[] =
    "# Reference\n"
    "\n"
    "Printed by `make reference` from the tables in `src/base/settings.h`, `src/base/limits.h`, `include/kith/kith.h`, "
    "`src/plan/metrics.h`, `src/cluster/sharing_counters.h` and `src/wire/worker_status.h`; a test holds it to them.\n";

static const char *type_name(enum setting_type type)
{
    switch (type) {
    case SETTING_BOOL:
        return "on or off";
    case SETTING_NUMBER:
        return "number";
    case SETTING_BYTES:
        return "size";
    case SETTING_MILLISECONDS:
        return "time";
    case SETTING_CHOICE:
        return "choice";
    }
    UNREACHABLE();
}

/* "1 to 1024", in the units that settings are written in; the words of a choice; nothing for on and off. */
static void print_range(enum setting setting)
{
    const struct setting_info *info = &setting_infos[setting];
    if (info->type == SETTING_BOOL)
        return;
    if (info->choices != NULL) {
        for (const char *c = info->choices; *c != '\0'; c++)
            printf(*c == ',' ? ", " : "%c", *c);
        return;
    }
    char least[64], most[64];
    struct settings edge;
    settings_init(&edge);
    edge.values[setting] = info->least;
    settings_format(&edge, setting, least, sizeof least);
    edge.values[setting] = info->most;
    settings_format(&edge, setting, most, sizeof most);
    if (info->most == INT64_MAX)
        printf("%s or more", least);
    else
        printf("%s to %s", least, most);
}

static void print_settings(void)
{
    puts("\n## Settings\n\n"
         "`SET name = value` changes one for the session and `SHOW name` prints it. A leading `datafusion.` is "
         "accepted. "
         "Sizes may be written as `64M` or `1GiB`, times as `250ms` or `2s`.\n\n"
         "| name | type | default | range | what it does |\n"
         "| --- | --- | --- | --- | --- |");
    struct settings settings;
    settings_init(&settings);
    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct setting_info *info = &setting_infos[i];
        char value[64];
        settings_format(&settings, (enum setting)i, value, sizeof value);
        printf("| `%s` | %s | %s | ", info->name, type_name(info->type), value);
        print_range((enum setting)i);
        printf(" | %s |\n", info->doc);
    }
}

static void print_limits(void)
{
    puts("\n## Limits\n\n"
         "What an input or a peer can grow, and no further. An error that refuses something names the limit.\n\n"
         "| limit | value | why |\n"
         "| --- | --- | --- |");
#define PRINT_LIMIT(name, value, unit, reason) printf("| %s | %d %s | %s |\n", #name, value, unit, reason);
    KITH_LIMITS(PRINT_LIMIT)
#undef PRINT_LIMIT
}

static void print_errors(void)
{
    puts("\n## Error codes\n\n"
         "| code | number | SQLSTATE | what it means |\n"
         "| --- | --- | --- | --- |");
#define PRINT_ERROR(name, number, sqlstate, meaning) \
    printf("| %s | %d | %s | %s |\n", #name, number, sqlstate, meaning);
    KITH_ERROR_CODES(PRINT_ERROR)
#undef PRINT_ERROR
}

static const char *unit_name(enum metric_unit unit)
{
    static const char *const names[] = {
        [METRIC_COUNT_UNIT] = "count", [METRIC_BYTES] = "bytes", [METRIC_NANOSECONDS] = "time"};
    return names[unit];
}

#define PRINT_METRIC(id, name, unit, meaning) printf("| `%s` | %s | %s |\n", name, unit_name(METRIC_##unit), meaning);

static void print_metrics(void)
{
    puts("\n## Metrics\n\n"
         "Of an operator, in EXPLAIN ANALYZE and of a task in its JSON; also what a worker sums up over its tasks. "
         "Names "
         "and units stay. In JSON a time is nanoseconds, and its name ends in `_ns` (`elapsed_compute_ns`). An "
         "operator's "
         "metric that is not there is 0.\n\n"
         "| metric | unit | what it counts |\n"
         "| --- | --- | --- |");
    KITH_METRICS(PRINT_METRIC)
    puts("\n## Counters of sharing\n\n"
         "What the coordinator counts of the bounds of one query: the head's line in EXPLAIN ANALYZE, `sharing` in "
         "JSON.\n\n"
         "| counter | unit | what it counts |\n"
         "| --- | --- | --- |");
    KITH_SHARING_COUNTERS(PRINT_METRIC)
    puts("\n## Counters of a worker\n\n"
         "`kith worker --status HOST:PORT` prints them, and the metrics of all its tasks together, as text or with "
         "`--format json`.\n\n"
         "| counter | unit | what it counts |\n"
         "| --- | --- | --- |");
    KITH_WORKER_COUNTERS(PRINT_METRIC)
}

int main(void)
{
    fputs(introduction, stdout);
    print_settings();
    print_limits();
    print_errors();
    print_metrics();
    return 0;
}
