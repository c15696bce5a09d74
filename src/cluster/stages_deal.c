#include "cluster/stages.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "expr/pruning.h"
#include "runtime/sort_in_turns.h"

/* A file is compared with up to TASKS_PER_STAGE loads; for a unit a few numbers are written. */
enum { FILES_A_CHARGE = 256, UNITS_A_CHARGE = 4096 };

/* What is dealt out: a row group, or a file that cannot be cut. */
struct unit {
    size_t file; /* among those of all scans */
    bool whole;
    size_t row_groups;
    int64_t start; /* of its first page; a scan's range owns the row groups that start in it */
    uint64_t bytes;
};

struct dealt_file {
    size_t scan;
    const struct scan_file *file;
    uint64_t bytes;
};

struct deal {
    struct arena *arena;
    const struct parquet_scan *const *scans;
    size_t scan_count;
    struct dealt_file *files; /* in the order of scans */
    size_t file_count;
    struct unit *units; /* in the order of files and row groups */
    size_t unit_count;
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

static kith_error *list_units_of_file(struct deal *deal, const struct parquet_scan *scan, size_t file)
{
    const struct parquet_metadata *metadata = scan->table->files[file].file->metadata;
    struct dealt_file *dealt = &deal->files[deal->file_count];
    bool cut = can_be_cut(metadata);
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        uint64_t bytes = row_group_weight(scan, file, i);
        if (i == 0 || cut)
            deal->units[deal->unit_count++] =
                (struct unit){.file = deal->file_count, .whole = !cut, .start = cut ? row_group_start(metadata, i) : 0};
        deal->units[deal->unit_count - 1].bytes += bytes;
        deal->units[deal->unit_count - 1].row_groups++;
        dealt->bytes += bytes;
        deal->total += bytes;
        TRY(coop_charge(1));
    }
    dealt->file = &scan->files[file];
    return NULL;
}

static kith_error *list_units(struct deal *deal)
{
    size_t files = 0, units = 0;
    for (size_t i = 0; i < deal->scan_count; i++) {
        files += deal->scans[i]->file_count;
        for (size_t j = 0; j < deal->scans[i]->file_count; j++)
            units += deal->scans[i]->table->files[j].file->metadata->row_group_count;
    }
    TRY(ARENA_NEW_ARRAY(deal->arena, &deal->units, units));
    TRY(ARENA_NEW_ARRAY(deal->arena, &deal->files, files));
    for (size_t i = 0; i < deal->scan_count; i++) {
        for (size_t j = 0; j < deal->scans[i]->file_count; j++, deal->file_count++) {
            deal->files[deal->file_count].scan = i;
            TRY(list_units_of_file(deal, deal->scans[i], j));
        }
    }
    return NULL;
}

static int larger_file_first(const void *a, const void *b, void *context)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct dealt_file *files = context;
    if (files[x].bytes != files[y].bytes)
        return files[x].bytes > files[y].bytes ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Largest first to the least loaded (Graham, "Bounds on Multiprocessing Timing Anomalies", 1969). */
static kith_error *deal_files(struct deal *deal, size_t tasks, size_t *owner, uint64_t *loads)
{
    size_t *order;
    TRY(ARENA_NEW_ARRAY(deal->arena, &order, deal->file_count));
    for (size_t i = 0; i < deal->file_count; i++)
        order[i] = i;
    const struct sort_in_turns sort = {.size = sizeof *order, .compare = larger_file_first, .context = deal->files};
    TRY(sort_array_in_turns(&sort, order, deal->file_count));
    for (size_t i = 0; i < deal->file_count; i++) {
        size_t least = 0;
        TRY(coop_charge_every(FILES_A_CHARGE, i));
        for (size_t task = 1; task < tasks; task++)
            if (loads[task] < loads[least])
                least = task;
        owner[order[i]] = least;
        loads[least] += deal->files[order[i]].bytes;
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
    for (size_t i = 0; i < deal->file_count; i++)
        stage_share_of(shares, owner[i], deal->files[i].scan)->count++;
    for (size_t i = 0; i < tasks * deal->scan_count; i++) {
        TRY(ARENA_NEW_ARRAY(deal->arena, &shares->shares[i].files, shares->shares[i].count));
        shares->shares[i].count = 0;
    }
    for (size_t i = 0; i < deal->file_count; i++) {
        struct stage_share *share = stage_share_of(shares, owner[i], deal->files[i].scan);
        share->files[share->count++] = *deal->files[i].file;
        share->bytes += deal->files[i].bytes;
        TRY(coop_charge_every(UNITS_A_CHARGE, i));
    }
    for (size_t i = 0; i < deal->unit_count; i++) {
        for (size_t j = 0; j < deal->units[i].row_groups; j++)
            *next_row_group++ = owner[deal->units[i].file];
        TRY(coop_charge_every(UNITS_A_CHARGE, i));
    }
    return NULL;
}

/* Adds a unit to the range of the unit before it, if that was the task's and of the same file, or starts a new entry at
 * *next. */
static void take_unit(const struct deal *deal, size_t unit, struct stage_share *share, struct scan_file **next)
{
    const struct unit *taken = &deal->units[unit];
    const struct scan_file *file = deal->files[taken->file].file;
    bool first_of_file = unit == 0 || deal->units[unit - 1].file != taken->file;
    bool last_of_file = unit + 1 == deal->unit_count || deal->units[unit + 1].file != taken->file;
    if (first_of_file || share->count == 0) {
        struct scan_file *entry = (*next)++;
        *entry = *file;
        entry->has_range = !taken->whole;
        entry->range_start = first_of_file ? 0 : taken->start;
        if (share->count++ == 0)
            share->files = entry;
    }
    struct scan_file *entry = &share->files[share->count - 1];
    entry->range_end = last_of_file ? (int64_t)file->size : deal->units[unit + 1].start;
    if (last_of_file && entry->has_range && entry->range_start == 0)
        entry->has_range = false; /* all of the file */
    share->bytes += taken->bytes;
}

/* A unit belongs to the task in whose part of the whole its middle lies. So a task's units of one scan follow one
 * another, and so do their entries. */
static kith_error *cut_evenly(struct deal *deal, size_t tasks, struct stage_shares *shares)
{
    struct scan_file *next;
    size_t *next_row_group = shares->row_group_tasks;
    uint64_t before = 0;
    TRY(ARENA_NEW_ARRAY(deal->arena, &next, deal->unit_count));
    for (size_t i = 0; i < deal->unit_count; i++) {
        const struct unit *unit = &deal->units[i];
        unsigned __int128 middle = (unsigned __int128)before + unit->bytes / 2;
        size_t task = (size_t)MIN(middle * tasks / deal->total, (unsigned __int128)(tasks - 1));
        take_unit(deal, i, stage_share_of(shares, task, deal->files[unit->file].scan), &next);
        before += unit->bytes;
        for (size_t j = 0; j < unit->row_groups; j++)
            *next_row_group++ = task;
        TRY(coop_charge_every(UNITS_A_CHARGE, i));
    }
    return NULL;
}

kith_error *stages_deal(struct arena *arena, const struct parquet_scan *const *scans, size_t scan_count, size_t tasks,
                        struct stage_shares *out)
{
    struct deal deal = {.arena = arena, .scans = scans, .scan_count = scan_count};
    size_t *owner, row_groups = 0;
    uint64_t *loads;
    ASSERT(tasks > 0);
    TRY(list_units(&deal));
    for (size_t i = 0; i < deal.unit_count; i++)
        row_groups += deal.units[i].row_groups;
    out->scan_count = scan_count;
    TRY(ARENA_NEW_ARRAY(arena, &owner, deal.file_count));
    TRY(ARENA_NEW_ARRAY(arena, &loads, tasks));
    TRY(ARENA_NEW_ARRAY(arena, &out->shares, tasks * scan_count));
    TRY(ARENA_NEW_ARRAY(arena, &out->row_group_tasks, row_groups));
    TRY(deal_files(&deal, tasks, owner, loads));
    if (deal.total == 0 || !is_uneven(loads, tasks, deal.total))
        return take_whole_files(&deal, tasks, owner, out);
    return cut_evenly(&deal, tasks, out);
}
