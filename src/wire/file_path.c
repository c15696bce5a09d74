#include "wire/file_path.h"

#include "storage/path.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

kith_error *file_path_encode(const char *path, struct arena *arena, char **out)
{
    char here[PATH_MAX];
    TRY(storage_local_path(path, &path));
    if (*path == '/')
        return arena_string(arena, path + 1, strlen(path + 1), out);
    if (getcwd(here, sizeof here) == NULL)
        return error_from_errno(errno, "the working directory, where \"%s\" is", path);
    /* The root directory is "/" already. */
    return arena_printf(arena, out, "%s%s%s", here + 1, here[1] == '\0' ? "" : "/", path);
}

kith_error *file_path_decode(const char *path, struct arena *arena, char **out)
{
    return arena_printf(arena, out, "%s%s", *path == '/' ? "" : "/", path);
}
