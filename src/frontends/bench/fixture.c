#include "frontends/bench/fixture.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

const char *const fixture_layout_names[FIXTURE_LAYOUTS] = {"pruning",  "staggered", "control", "overlap",
                                                           "shuffled", "sorted",    "skewed",  "rising"};
const char *const fixture_column_names[FIXTURE_COLUMNS] = {"score", "id", "excluded", "tag", "val", "payload"};

enum { ROW_BITS = 24, HIGH_LEVEL = 1000, KEPT_IN_TEN = 9 };

/* Above every other score; exact as a double, as all scores are. */
static const int64_t sentinel_score = INT64_C(9000000000000000000);

bool fixture_has_column(enum fixture_layout layout, enum fixture_column column)
{
    return column != FIXTURE_PAYLOAD || layout == FIXTURE_OVERLAP || layout == FIXTURE_SHUFFLED;
}

/* A permutation of the numbers below 2^24: odd factors and shifts to the right can be undone. */
static uint32_t scramble(uint32_t n)
{
    const uint32_t mask = (1u << ROW_BITS) - 1;
    n = (n ^ n >> 13) * UINT32_C(0x9E3779B1) & mask;
    n = (n ^ n >> 11) * UINT32_C(0x85EBCA6B) & mask;
    return n ^ n >> 12;
}

/* Groups of one level share a range of scores; those of a higher one lie above it. */
static int64_t level_of(const struct fixture *fixture, size_t file, size_t group)
{
    switch (fixture->layout) {
    case FIXTURE_PRUNING:
    case FIXTURE_CONTROL:
        return group == 0 ? HIGH_LEVEL : (int64_t)group;
    case FIXTURE_STAGGERED:
        return group == 0 ? HIGH_LEVEL + (int64_t)file : (int64_t)group;
    case FIXTURE_OVERLAP:
        return file == 0 && group == fixture->groups / 2;
    case FIXTURE_SORTED:
        return (int64_t)(file * fixture->groups + group);
    case FIXTURE_SKEWED:
        return file == 0;
    case FIXTURE_RISING:
        return (int64_t)group;
    case FIXTURE_SHUFFLED:
    case FIXTURE_LAYOUTS:
        break;
    }
    return 0;
}

static bool is_excluded(const struct fixture *fixture, size_t row, uint32_t scrambled)
{
    switch (fixture->layout) {
    case FIXTURE_CONTROL:
        return row % FIXTURE_PAGE_ROWS == 0;
    case FIXTURE_OVERLAP:
    case FIXTURE_SHUFFLED:
        return scramble(scrambled) % 10 >= KEPT_IN_TEN;
    case FIXTURE_PRUNING:
    case FIXTURE_STAGGERED:
    case FIXTURE_SORTED:
    case FIXTURE_SKEWED:
    case FIXTURE_RISING:
    case FIXTURE_LAYOUTS:
        break;
    }
    return false;
}

struct fixture_row fixture_row(const struct fixture *fixture, size_t file, size_t group, size_t row)
{
    size_t number = (file * fixture->groups + group) * fixture->group_rows + row;
    uint32_t scrambled = scramble((uint32_t)number);
    struct fixture_row result = {
        .score = level_of(fixture, file, group) << ROW_BITS | (int64_t)scrambled,
        .id = (int64_t)number,
        .tag = (int32_t)(scrambled % 1000),
        .excluded = is_excluded(fixture, row, scrambled),
    };
    if (fixture->layout == FIXTURE_CONTROL && result.excluded)
        result.score = sentinel_score;
    result.val = (double)result.score / 2;
    return result;
}

/* The score in 19 digits, a dash, and letters that follow from the id. */
void fixture_fill_payload(struct fixture_row *row)
{
    enum { DIGITS = 19 };
    uint64_t score = (uint64_t)row->score, letters = (uint64_t)row->id * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = DIGITS; i-- > 0; score /= 10)
        row->payload[i] = (char)('0' + score % 10);
    row->payload[DIGITS] = '-';
    for (size_t i = DIGITS + 1; i < FIXTURE_PAYLOAD_BYTES; i++, letters = letters >> 5 | letters << 59)
        row->payload[i] = (char)('a' + letters % 26);
}

kith_error *fixture_path(const struct fixture *fixture, size_t file, size_t files, char out[512])
{
    char digits[2 * FIXTURE_MOST_FILES] = "";
    size_t length = 0;
    if (file == SIZE_MAX) {
        digits[length++] = '[';
        for (size_t i = 0; i < files; i++)
            digits[length++] = (char)('0' + i);
        digits[length++] = ']';
    } else {
        digits[length++] = (char)('0' + file);
    }
    int written =
        snprintf(out, 512, "%s/%s-%zux%zu%s/part-%.*s.parquet", fixture->folder, fixture_layout_names[fixture->layout],
                 fixture->groups, fixture->group_rows, fixture->zstd ? "-zstd" : "", (int)length, digits);
    if (written >= 512)
        return error_new(KITH_ERROR_LIMIT, "the path \"%s\" is too long for the benchmark's files", fixture->folder);
    return NULL;
}

/* Puts the row in its place among the best, which fall; the worst of `limit` gives way. */
static size_t insert_row(struct fixture_row *rows, size_t count, size_t limit, const struct fixture_row *row)
{
    size_t at = count;
    while (at > 0 && rows[at - 1].score < row->score)
        at--;
    if (at == limit)
        return count;
    size_t kept = count < limit ? count : limit - 1;
    memmove(rows + at + 1, rows + at, (kept - at) * sizeof *rows);
    rows[at] = *row;
    return kept + 1;
}

/* Row groups are numbered through all files. */
static size_t add_best_of_group(const struct fixture *fixture, size_t number, bool filtered, size_t limit,
                                struct fixture_row *rows, size_t count)
{
    size_t file = number / fixture->groups, group = number % fixture->groups;
    for (size_t i = 0; i < fixture->group_rows; i++) {
        struct fixture_row row = fixture_row(fixture, file, group, i);
        bool good = count < limit || row.score > rows[count - 1].score;
        if (good && !(filtered && row.excluded))
            count = insert_row(rows, count, limit, &row);
    }
    return count;
}

size_t fixture_best_rows(const struct fixture *fixture, size_t files, bool filtered, size_t limit,
                         struct fixture_row *out)
{
    size_t count = 0;
    for (size_t number = 0; number < files * fixture->groups; number++)
        count = add_best_of_group(fixture, number, filtered, limit, out, count);
    for (size_t i = 0; i < count; i++)
        fixture_fill_payload(&out[i]);
    return count;
}

/* Rows of the group's pages whose highest score is above the bound. */
static uint64_t rows_above(const struct fixture *fixture, size_t number, int64_t bound)
{
    size_t file = number / fixture->groups, group = number % fixture->groups;
    uint64_t rows = 0;
    for (size_t start = 0; start < fixture->group_rows; start += FIXTURE_PAGE_ROWS) {
        size_t end = MIN(start + FIXTURE_PAGE_ROWS, fixture->group_rows);
        int64_t highest = INT64_MIN;
        for (size_t i = start; i < end; i++)
            highest = MAX(highest, fixture_row(fixture, file, group, i).score);
        rows += highest > bound ? end - start : 0;
    }
    return rows;
}

kith_error *fixture_local_floor(const struct fixture *fixture, size_t files, size_t tasks, bool filtered, size_t limit,
                                uint64_t *out)
{
    _cleanup_free_ struct fixture_row *rows = NULL;
    size_t share = files * fixture->groups / tasks;
    TRY(NEW_ARRAY(&rows, limit));
    *out = 0;
    for (size_t task = 0; task < tasks; task++) {
        size_t count = 0;
        for (size_t i = 0; i < share; i++)
            count = add_best_of_group(fixture, task * share + i, filtered, limit, rows, count);
        int64_t bound = count < limit ? INT64_MIN : rows[count - 1].score;
        for (size_t i = 0; i < share; i++)
            *out += rows_above(fixture, task * share + i, bound);
    }
    return NULL;
}
