#include "base/alloc.h"
#include "base/limits.h"
#include "base/vec.h"
#include "runtime/fiber.h"
#include "runtime/io.h"
#include "runtime/sort_in_turns.h"
#include "storage/path.h"
#include "storage/pattern.h"
#include "storage/storage.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* A directory in which the components from `component` on are still to be matched. */
struct pending {
    char *directory; /* with a "/" at its end, or "" for the working directory */
    size_t component;
};

struct glob {
    const char *given;
    const char *pattern;
    struct file_list *found;
    size_t found_capacity;
    VEC(char *) components;
    VEC(struct pending) pending; /* a stack, so that deep trees cost no call depth */
    struct cancel_token *cancel; /* of who waits for the list, as this runs on a thread of its own; NULL = none */
    bool data_files_only;        /* a directory was named: only *.parquet, and no name that begins with "." or "_" */
};

static void glob_reset(struct glob *glob)
{
    for (size_t i = 0; i < glob->components.length; i++)
        free(glob->components.items[i]);
    vec_reset(&glob->components);
    for (size_t i = 0; i < glob->pending.length; i++)
        free(glob->pending.items[i].directory);
    vec_reset(&glob->pending);
}
DEFINE_VALUE_CLEANUP(glob_reset, struct glob)

static void close_directory(DIR *directory)
{
    closedir(directory);
}
DEFINE_CLEANUP(close_directory, DIR)

static kith_error *join(const char *directory, const char *name, const char *end, char **out)
{
    size_t lengths[] = {strlen(directory), strlen(name), strlen(end)};
    TRY(alloc_zeroed(lengths[0] + lengths[1] + lengths[2] + 1, 1, out));
    memcpy(*out, directory, lengths[0]);
    memcpy(*out + lengths[0], name, lengths[1]);
    memcpy(*out + lengths[0] + lengths[1], end, lengths[2]);
    return NULL;
}

static kith_error *add_file(struct glob *glob, char *take_path, const struct stat *status)
{
    _cleanup_free_ char *path = take_path;
    struct file_list *found = glob->found;
    if (found->count == LIMIT_GLOB_FILES)
        return error_new(KITH_ERROR_LIMIT, "%s names more than %d files (limit GLOB_FILES)", glob->given,
                         LIMIT_GLOB_FILES);
    if (found->count == glob->found_capacity)
        TRY(vec_grow(&found->entries, &glob->found_capacity, found->count + 1, sizeof *found->entries));
    found->entries[found->count++] = (struct file_entry){
        .path = TAKE(path),
        .size = (uint64_t)status->st_size,
        .modified_ns = (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec,
    };
    return NULL;
}

static kith_error *push(struct glob *glob, char *take_directory, size_t component)
{
    _cleanup_free_ char *directory = take_directory;
    TRY(vec_reserve(&glob->pending, 1));
    glob->pending.items[glob->pending.length++] = (struct pending){TAKE(directory), component};
    return NULL;
}

/* Takes `name` in `directory`, which matches component `component`: a file if that is the last one, else a directory
 * to look into. What has gone in the meantime or may not be looked at is no match. */
static kith_error *accept(struct glob *glob, const char *directory, const char *name, size_t component)
{
    bool last = component + 1 == glob->components.length;
    _cleanup_free_ char *path = NULL;
    struct stat status;
    TRY(join(directory, name, "", &path));
    if (stat(path, &status) != 0)
        return NULL;
    if (last)
        return S_ISREG(status.st_mode) ? add_file(glob, TAKE(path), &status) : NULL;
    if (!S_ISDIR(status.st_mode))
        return NULL;
    _cleanup_free_ char *inner = NULL;
    TRY(join(directory, name, "/", &inner));
    return push(glob, TAKE(inner), component + 1);
}

/* Below "**" symbolic links to directories are not followed, so that a loop of them ends. */
static kith_error *descend(struct glob *glob, const char *directory, const char *name, size_t component)
{
    _cleanup_free_ char *path = NULL, *inner = NULL;
    struct stat status;
    TRY(join(directory, name, "", &path));
    if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return NULL;
    TRY(join(directory, name, "/", &inner));
    return push(glob, TAKE(inner), component);
}

static kith_error *visit_entry(struct glob *glob, const struct pending *at, const char *name)
{
    const char *pattern = glob->components.items[at->component];
    TRY(cancel_token_check(glob->cancel));
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return NULL;
    if (glob->data_files_only && (name[0] == '.' || name[0] == '_'))
        return NULL;
    if (strcmp(pattern, "**") != 0)
        return pattern_matches(pattern, name) ? accept(glob, at->directory, name, at->component) : NULL;
    if (name[0] == '.')
        return NULL;
    if (at->component + 1 == glob->components.length)
        TRY(accept(glob, at->directory, name, at->component));
    return descend(glob, at->directory, name, at->component);
}

static kith_error *visit(struct glob *glob, const struct pending *at)
{
    const char *pattern = glob->components.items[at->component];
    bool last = at->component + 1 == glob->components.length;
    if (strcmp(pattern, "**") == 0 && !last) {
        _cleanup_free_ char *same = NULL; /* "**" also stands for no directory at all */
        TRY(alloc_string(at->directory, strlen(at->directory), &same));
        TRY(push(glob, TAKE(same), at->component + 1));
    } else if (!pattern_is_glob(pattern)) {
        return accept(glob, at->directory, pattern, at->component);
    }

    _cleanup_(close_directory) DIR *directory = opendir(at->directory[0] == '\0' ? "." : at->directory);
    if (directory == NULL)
        return errno == ENOENT || errno == EACCES || errno == ENOTDIR
                   ? NULL
                   : error_from_errno(errno, "cannot list %s", at->directory);
    for (const struct dirent *entry; (errno = 0, entry = readdir(directory)) != NULL;)
        TRY(visit_entry(glob, at, entry->d_name));
    return errno == 0 ? NULL : error_from_errno(errno, "cannot list %s", at->directory);
}

/* Splits at "/"; a run of "**" is one, since it says the same and each would multiply the visits. */
static kith_error *split(struct glob *glob, const char *pattern)
{
    while (*pattern != '\0') {
        size_t length = strcspn(pattern, "/");
        bool repeated = length == 2 && strncmp(pattern, "**", 2) == 0 && glob->components.length > 0 &&
                        strcmp(glob->components.items[glob->components.length - 1], "**") == 0;
        if (length > 0 && !repeated) {
            TRY(vec_reserve(&glob->components, 1));
            TRY(alloc_string(pattern, length, &glob->components.items[glob->components.length]));
            glob->components.length++;
        }
        pattern += length;
        pattern += strspn(pattern, "/");
    }
    return NULL;
}

static int compare_entries(const void *a, const void *b, void *context)
{
    return strcmp(((const struct file_entry *)a)->path, ((const struct file_entry *)b)->path);
}

/* Several "**" can reach one file by several ways. */
static kith_error *sort_and_unite(struct glob *glob)
{
    struct file_list *list = glob->found;
    const struct sort_in_turns by_path = {
        .size = sizeof *list->entries, .compare = compare_entries, .cancel = glob->cancel};
    if (list->count == 0)
        return NULL;
    TRY(sort_array_in_turns(&by_path, list->entries, list->count));
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        if (strcmp(list->entries[i].path, list->entries[kept - 1].path) == 0)
            free(list->entries[i].path);
        else
            list->entries[kept++] = list->entries[i];
    }
    list->count = kept;
    return NULL;
}

static kith_error *walk(struct glob *glob, const char *start)
{
    _cleanup_free_ char *directory = NULL;
    TRY(alloc_string(start, strlen(start), &directory));
    TRY(push(glob, TAKE(directory), 0));
    while (glob->pending.length > 0) {
        struct pending at = vec_pop(&glob->pending);
        kith_error *error = visit(glob, &at);
        free(at.directory);
        TRY(error);
    }
    return NULL;
}

/* A name that exists is itself, whatever characters it has. */
static kith_error *list_files(void *argument)
{
    struct glob *glob = argument;
    struct stat status;
    bool exists = stat(glob->pattern, &status) == 0;
    if (exists && S_ISREG(status.st_mode)) {
        _cleanup_free_ char *path = NULL;
        TRY(alloc_string(glob->pattern, strlen(glob->pattern), &path));
        return add_file(glob, TAKE(path), &status);
    }
    if (exists && !S_ISDIR(status.st_mode))
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "%s is neither a file nor a directory", glob->given);
    if (!exists && !pattern_is_glob(glob->pattern))
        return error_from_errno(errno, "cannot find %s", glob->given);

    if (exists) {
        _cleanup_free_ char *start = NULL;
        bool slash = glob->pattern[strlen(glob->pattern) - 1] == '/';
        glob->data_files_only = true;
        TRY(join(glob->pattern, slash ? "" : "/", "", &start));
        TRY(split(glob, "**/*.parquet"));
        TRY(walk(glob, start));
    } else {
        TRY(split(glob, glob->pattern));
        TRY(walk(glob, glob->pattern[0] == '/' ? "/" : ""));
    }
    TRY(sort_and_unite(glob));
    if (glob->found->count > 0)
        return NULL;
    return error_new(KITH_ERROR_NOT_FOUND, exists ? "the directory %s holds no *.parquet file" : "no file matches %s",
                     glob->given);
}

kith_error *storage_glob(const char *pattern, struct file_list *out)
{
    _cleanup_(file_list_reset) struct file_list found = {0};
    _cleanup_(glob_reset) struct glob glob = {.given = pattern, .found = &found, .cancel = fiber_cancel_token()};
    TRY(storage_local_path(pattern, &glob.pattern));
    TRY(offload(list_files, &glob));
    *out = found;
    found = (struct file_list){0};
    return NULL;
}

void file_list_reset(struct file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].path);
    free(list->entries);
    *list = (struct file_list){0};
}
