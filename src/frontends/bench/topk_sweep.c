#include "frontends/bench/topk_sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Sums for the slope of a line through the points' logarithms. */
struct growth {
    double points, x, y, xx, xy;
};

static void growth_add(struct growth *growth, double x, double y)
{
    if (y <= 0)
        return;
    x = log(x);
    y = log(y);
    growth->points++;
    growth->x += x;
    growth->y += y;
    growth->xx += x * x;
    growth->xy += x * y;
}

static double growth_exponent(const struct growth *growth)
{
    double n = growth->points;
    return (n * growth->xy - growth->x * growth->y) / (n * growth->xx - growth->x * growth->x);
}

static void print_head(size_t queries)
{
    printf("The same eight files over more tasks, every bound told and no head start; means of %zu queries.\n\n"
           "%5s %9s %13s %7s %9s %12s %8s %14s\n",
           queries, "tasks", "reported", "improvements", "sent", "messages", "sent an", "at most", "control bytes");
    printf("%5s %9s %13s %7s %9s %12s %8s %14s\n", "", "", "", "", "", "improvement", "", "an improvement");
}

static kith_error *report(size_t tasks, const struct topk_block *block, struct growth *messages, struct growth *bytes,
                          struct strbuf *json)
{
    const struct filter_registry_counters *sharing = &block->sharing;
    double queries = (double)block->queries, unique = sharing->unique > 0 ? (double)sharing->unique : 1;
    uint64_t control = sharing->bytes_sent + sharing->bytes_received;
    printf("%5zu %9.1f %13.1f %7.1f %9.1f %12.2f %8zu %14.1f\n", tasks, (double)sharing->produced / queries,
           (double)sharing->unique / queries, (double)sharing->sent / queries,
           (double)(sharing->produced + sharing->sent) / queries, (double)sharing->sent / unique, tasks - 1,
           (double)control / unique);
    fflush(stdout);
    growth_add(messages, (double)tasks, (double)sharing->sent / unique);
    growth_add(bytes, (double)tasks, (double)control / unique);
    /* What no task had by itself is news to all of them. */
    if (sharing->sent > sharing->unique * (tasks - 1) + sharing->combined)
        return error_new(KITH_ERROR_INTERNAL,
                         "%" PRIu64 " bounds were sent for %" PRIu64 " improvements (%" PRIu64
                         " of several together) to %zu tasks: more than one to each task that did not report it",
                         sharing->sent, sharing->unique, sharing->combined, tasks);
    TRY(strbuf_printf(json, "%s{\"tasks\": %zu, \"block\": ", json->data[json->length - 1] == '[' ? "\n  " : ",\n  ",
                      tasks));
    TRY(topk_block_json(block, tasks, json));
    return strbuf_append_text(json, "}");
}

static kith_error *run_tasks(const struct topk_run_options *options, size_t tasks, size_t queries,
                             struct topk_block *out)
{
    struct topk_run_options with_case = *options;
    _cleanup_(topk_run_free) struct topk_run *run = NULL;
    TRY(topk_case_find("constant/2", &with_case.topk_case));
    with_case.topk_case.tasks = tasks;
    TRY(topk_run_new(&with_case, &run));
    TRY(topk_run_block(run, &topk_sweep_arm, 1, out));
    return topk_run_block(run, &topk_sweep_arm, queries, out);
}

kith_error *topk_sweep(const struct topk_run_options *options, size_t most_tasks, size_t queries, struct strbuf *json)
{
    struct growth messages = {0}, bytes = {0};
    print_head(queries);
    TRY(strbuf_append_text(json, "{\"sweep\": ["));
    for (size_t tasks = 1; tasks <= most_tasks; tasks *= 2) {
        struct topk_block block;
        TRY(run_tasks(options, tasks, queries, &block));
        TRY(report(tasks, &block, &messages, &bytes, json));
    }
    if (messages.points > 1)
        printf("\nMessages sent an improvement grow as tasks to the power %.2f, control bytes to the power %.2f.\n",
               growth_exponent(&messages), growth_exponent(&bytes));
    return strbuf_append_text(json, "]}\n");
}
