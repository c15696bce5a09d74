#include "base/vec.h"
#include "plan/logical.h"

void plan_arena_reset(struct plan_arena *arena)
{
    for (size_t i = 0; i < arena->schema_count; i++)
        schema_unref(arena->schemas[i]);
    for (size_t i = 0; i < arena->table_count; i++)
        table_unref(arena->tables[i]);
    free(arena->schemas);
    free(arena->tables);
    arena_reset(&arena->arena);
    *arena = (struct plan_arena){.arena = arena->arena};
}

kith_error *plan_arena_keep_schema(struct plan_arena *arena, struct schema *take_schema)
{
    _cleanup_(schema_unref) struct schema *schema = take_schema;
    if (arena->schema_count == arena->schema_capacity)
        TRY(vec_grow(&arena->schemas, &arena->schema_capacity, arena->schema_count + 1, sizeof *arena->schemas));
    arena->schemas[arena->schema_count++] = TAKE(schema);
    return NULL;
}

kith_error *plan_arena_keep_table(struct plan_arena *arena, struct table *take_table)
{
    _cleanup_(table_unref) struct table *table = take_table;
    if (arena->table_count == arena->table_capacity)
        TRY(vec_grow(&arena->tables, &arena->table_capacity, arena->table_count + 1, sizeof *arena->tables));
    arena->tables[arena->table_count++] = TAKE(table);
    return NULL;
}
