#include "cluster/stages.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "expr/pruning.h"

/* What is dealt out: a row group, or a file that cannot be cut. */
struct unit {
    size_t file;
    bool whole;
    size_t row_groups;
    int64_t start; /* of its first page; a scan's range owns the row groups that start in it */
    uint64_t bytes;
};

struct deal {
    struct arena *arena;
    const struct parquet_scan *scan;
    struct unit *units; /* in the order of files and row groups */
    size_t unit_count;
    uint64_t *file_bytes;
    uint64_t total;
};

struct row_group_statistics {
    struct statistics_source source;
    const struct table *table;
    size_t file, row_group;
};

static void get_statistics(const struct statistics_source *source, size_t column, struct column_statistics *out)
{
    const struct row_group_statistics *self = CONTAINER_OF(source, const struct row_group_statistics, source);
    table_row_group_statistics(self->table, self->file, self->row_group, column, out);
}

bool stages_rule_out(const struct parquet_scan *scan, size_t file, size_t row_group)
{
    const struct parquet_metadata *metadata = scan->table->files[file].file->metadata;
    struct row_group_statistics statistics = {{get_statistics}, scan->table, file, row_group};
    return metadata->row_groups[row_group].row_count == 0 ||
           (scan->predicate != NULL && expr_prune(scan->predicate, &statistics.source) == PRUNE_NONE_MATCH);
}

/* A row group that is ruled out costs its task nothing; 1 so that it belongs somewhere. */
static uint64_t row_group_weight(const struct parquet_scan *scan, size_t file, size_t row_group)
{
    const struct parquet_metadata *metadata = scan->table->files[file].file->metadata;
    return stages_rule_out(scan, file, row_group) ? 1
                                                  : MAX(metadata->row_groups[row_group].compressed_bytes, (uint64_t)1);
}

static int64_t row_group_start(const struct parquet_metadata *metadata, size_t row_group)
{
    return (int64_t)metadata->row_groups[row_group].chunks[0].pages.offset;
}

/* Only where row groups follow one another does a byte range name a run of them. */
static bool can_be_cut(const struct parquet_metadata *metadata)
{
    if (metadata->column_count == 0)
        return false;
    for (size_t i = 1; i < metadata->row_group_count; i++)
        if (row_group_start(metadata, i) <= row_group_start(metadata, i - 1))
            return false;
    return metadata->row_group_count > 1;
}

static kith_error *list_units(struct deal *deal)
{
    const struct parquet_scan *scan = deal->scan;
    size_t most = 0;
    for (size_t i = 0; i < scan->file_count; i++)
        most += MAX(scan->table->files[i].file->metadata->row_group_count, (size_t)1);
    TRY(ARENA_NEW_ARRAY(deal->arena, &deal->units, most));
    TRY(ARENA_NEW_ARRAY(deal->arena, &deal->file_bytes, scan->file_count));
    for (size_t i = 0; i < scan->file_count; i++) {
        const struct parquet_metadata *metadata = scan->table->files[i].file->metadata;
        bool cut = can_be_cut(metadata);
        for (size_t j = 0; j < metadata->row_group_count; j++) {
            uint64_t bytes = row_group_weight(scan, i, j);
            if (j == 0 || cut)
                deal->units[deal->unit_count++] =
                    (struct unit){.file = i, .whole = !cut, .start = cut ? row_group_start(metadata, j) : 0};
            deal->units[deal->unit_count - 1].bytes += bytes;
            deal->units[deal->unit_count - 1].row_groups++;
            deal->file_bytes[i] += bytes;
            deal->total += bytes;
        }
    }
    return NULL;
}

static int larger_file_first(const void *a, const void *b, void *context)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const uint64_t *bytes = context;
    if (bytes[x] != bytes[y])
        return bytes[x] > bytes[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Largest first to the least loaded (Graham, "Bounds on Multiprocessing Timing Anomalies", 1969). */
static kith_error *deal_files(struct deal *deal, size_t tasks, size_t *owner, uint64_t *loads)
{
    size_t count = deal->scan->file_count, *order;
    TRY(ARENA_NEW_ARRAY(deal->arena, &order, count));
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, larger_file_first, deal->file_bytes);
    for (size_t i = 0; i < count; i++) {
        size_t least = 0;
        for (size_t task = 1; task < tasks; task++)
            if (loads[task] < loads[least])
                least = task;
        owner[order[i]] = least;
        loads[least] += deal->file_bytes[order[i]];
    }
    return NULL;
}

/* Whether the fullest task has over a quarter more than an even share. */
static bool is_uneven(const uint64_t *loads, size_t tasks, uint64_t total)
{
    uint64_t most = 0;
    for (size_t i = 0; i < tasks; i++)
        most = MAX(most, loads[i]);
    return most > total / tasks + total / tasks / 4;
}

static kith_error *take_whole_files(struct deal *deal, size_t tasks, const size_t *owner, struct stage_shares *shares)
{
    size_t *next_row_group = shares->row_group_tasks;
    for (size_t i = 0; i < deal->scan->file_count; i++)
        shares->counts[owner[i]]++;
    for (size_t task = 0; task < tasks; task++) {
        TRY(ARENA_NEW_ARRAY(deal->arena, &shares->files[task], shares->counts[task]));
        shares->counts[task] = 0;
    }
    for (size_t i = 0; i < deal->scan->file_count; i++)
        shares->files[owner[i]][shares->counts[owner[i]]++] = deal->scan->files[i];
    for (size_t i = 0; i < deal->unit_count; i++)
        for (size_t j = 0; j < deal->units[i].row_groups; j++)
            *next_row_group++ = owner[deal->units[i].file];
    return NULL;
}

/* Adds a unit that follows the task's last one to the same file's range, or starts a new entry. */
static void take_unit(const struct deal *deal, size_t unit, struct scan_file *files, size_t *count)
{
    const struct unit *taken = &deal->units[unit];
    const struct scan_file *file = &deal->scan->files[taken->file];
    bool continues = unit > 0 && *count > 0 && deal->units[unit - 1].file == taken->file;
    struct scan_file *entry = continues ? &files[*count - 1] : &files[(*count)++];
    if (!continues) {
        *entry = *file;
        entry->has_range = !taken->whole;
        entry->range_start = taken->start;
    }
    bool last_of_file = unit + 1 == deal->unit_count || deal->units[unit + 1].file != taken->file;
    entry->range_end = last_of_file ? (int64_t)file->size : deal->units[unit + 1].start;
    bool first_of_file = unit == 0 || deal->units[unit - 1].file != taken->file;
    if (first_of_file && entry->has_range)
        entry->range_start = 0;
    if (last_of_file && entry->has_range && entry->range_start == 0)
        entry->has_range = false; /* all of the file */
}

/* A unit belongs to the task in whose part of the whole its middle lies. */
static kith_error *cut_evenly(struct deal *deal, size_t tasks, struct stage_shares *shares)
{
    struct scan_file **files = shares->files;
    size_t *next_row_group = shares->row_group_tasks, task = 0;
    uint64_t before = 0;
    TRY(ARENA_NEW_ARRAY(deal->arena, &files[0], deal->unit_count));
    for (size_t i = 0; i < tasks; i++)
        shares->bytes[i] = 0;
    for (size_t i = 0; i < deal->unit_count; i++) {
        unsigned __int128 middle = (unsigned __int128)before + deal->units[i].bytes / 2;
        size_t belongs = (size_t)MIN(middle * tasks / deal->total, (unsigned __int128)(tasks - 1));
        for (; task < belongs; task++)
            files[task + 1] = files[task] + shares->counts[task];
        take_unit(deal, i, files[task], &shares->counts[task]);
        shares->bytes[task] += deal->units[i].bytes;
        before += deal->units[i].bytes;
        for (size_t j = 0; j < deal->units[i].row_groups; j++)
            *next_row_group++ = task;
    }
    for (; task + 1 < tasks; task++)
        files[task + 1] = files[task] + shares->counts[task];
    return NULL;
}

kith_error *stages_deal(struct arena *arena, const struct parquet_scan *scan, size_t tasks, struct stage_shares *out)
{
    struct deal deal = {.arena = arena, .scan = scan};
    size_t *owner, row_groups = 0;
    ASSERT(tasks > 0);
    TRY(list_units(&deal));
    for (size_t i = 0; i < deal.unit_count; i++)
        row_groups += deal.units[i].row_groups;
    TRY(ARENA_NEW_ARRAY(arena, &owner, scan->file_count));
    TRY(ARENA_NEW_ARRAY(arena, &out->files, tasks));
    TRY(ARENA_NEW_ARRAY(arena, &out->counts, tasks));
    TRY(ARENA_NEW_ARRAY(arena, &out->bytes, tasks));
    TRY(ARENA_NEW_ARRAY(arena, &out->row_group_tasks, row_groups));
    TRY(deal_files(&deal, tasks, owner, out->bytes));
    if (deal.total == 0 || !is_uneven(out->bytes, tasks, deal.total))
        return take_whole_files(&deal, tasks, owner, out);
    return cut_evenly(&deal, tasks, out);
}
