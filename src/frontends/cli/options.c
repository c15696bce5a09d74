#include "frontends/cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

kith_error *option_count(const char *name, const char *text, size_t most, size_t *out)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || text[0] == '-' || value > most)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "%s takes a whole number from 0 to %zu, not \"%s\"", name, most,
                         text);
    *out = value;
    return NULL;
}

kith_error *option_assignment(const char *what, char *option, char **value)
{
    char *equals = strchr(option, '=');
    if (equals == NULL || equals == option)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "%s takes NAME=VALUE, not \"%s\"", what, option);
    *equals = '\0';
    *value = equals + 1;
    return NULL;
}

kith_error *option_unknown(const char *command)
{
    return error_new(KITH_ERROR_INVALID_ARGUMENT, "kith %s --help lists the options", command);
}
