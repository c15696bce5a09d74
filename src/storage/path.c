#include "storage/path.h"

#include <ctype.h>
#include <string.h>

/* The length of a URL's scheme (RFC 3986, 3.1), or 0 where `path` has none. */
static size_t scheme_length(const char *path)
{
    size_t length = 0;
    if (!isalpha((unsigned char)path[0]))
        return 0;
    while (isalnum((unsigned char)path[length]) || (path[length] != '\0' && strchr("+-.", path[length]) != NULL))
        length++;
    return strncmp(path + length, "://", 3) == 0 ? length : 0;
}

kith_error *storage_local_path(const char *path, const char **out)
{
    size_t scheme = scheme_length(path);
    if (scheme != 0 && (scheme != 4 || strncmp(path, "file", 4) != 0))
        return error_new(KITH_ERROR_NOT_IMPLEMENTED,
                         "%s: the scheme %.*s:// is not supported; only local paths and file:// URLs are", path,
                         (int)scheme, path);
    *out = scheme == 0 ? path : path + strlen("file://");
    if (**out == '\0')
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "an empty path was given where a file was expected");
    return NULL;
}
