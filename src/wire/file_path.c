#include "wire/file_path.h"

#include "base/strbuf.h"
#include "storage/path.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

static bool must_be_encoded(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f || strchr("\\{^}%`]\">[~<#|*?", c) != NULL;
}

static kith_error *append_encoded(const char *path, struct strbuf *out)
{
    for (; *path != '\0'; path++) {
        if (must_be_encoded(*path))
            TRY(strbuf_printf(out, "%%%02X", (unsigned)(unsigned char)*path));
        else
            TRY(strbuf_append(out, path, 1));
    }
    return NULL;
}

kith_error *file_path_encode(const char *path, struct arena *arena, char **out)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    char here[PATH_MAX];
    TRY(storage_local_path(path, &path));
    if (*path != '/') {
        if (getcwd(here, sizeof here) == NULL)
            return error_from_errno(errno, "the working directory, where \"%s\" is", path);
        TRY(append_encoded(here + 1, &text));
        if (text.length > 0)
            TRY(strbuf_append_text(&text, "/"));
    } else {
        path++;
    }
    TRY(append_encoded(path, &text));
    return arena_string(arena, text.data, text.length, out);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A '%' that no two digits follow stands for itself. */
kith_error *file_path_decode(const char *path, struct arena *arena, char **out)
{
    size_t length = strlen(path), used = 0;
    TRY(arena_alloc(arena, length + 2, 1, out));
    if (*path != '/')
        (*out)[used++] = '/';
    for (size_t i = 0; i < length; i++) {
        int high = path[i] == '%' && length - i > 2 ? hex_digit(path[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(path[i + 2]) : -1;
        if (low >= 0)
            i += 2;
        (*out)[used++] = low >= 0 ? (char)(high * 16 + low) : path[i];
    }
    if (strlen(*out) < used)
        return error_new(KITH_ERROR_CORRUPT, "a file's path in the plan holds a NUL: %s", path);
    return NULL;
}
