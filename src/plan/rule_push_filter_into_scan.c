#include "plan/rules.h"

kith_error *rule_push_filter_into_scan(struct plan_arena *arena, const struct settings *settings,
                                       struct logical_plan **plan)
{
    if (!settings_get(settings, SETTING_PARQUET_PUSHDOWN_FILTERS))
        return NULL;
    for (struct logical_plan **place = plan; *place != NULL; place = &(*place)->input) {
        struct logical_plan *filter = *place;
        if (filter->kind != LOGICAL_FILTER || filter->input->kind != LOGICAL_SCAN)
            continue;
        struct logical_plan *scan = filter->input;
        const struct expr *parts[2] = {scan->scan.filter};
        size_t count = scan->scan.filter != NULL;
        TRY(expr_remap(&arena->arena, filter->filter.predicate, scan->scan.columns, &parts[count]));
        TRY(expr_logical(&arena->arena, EXPR_AND, parts, count + 1, &scan->scan.filter));
        *place = scan;
        return NULL;
    }
    return NULL;
}
