#include "base/error.h"

#include "base/limits.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kith_error {
    enum kith_code code;
    size_t position; /* 1-based; 0 = none */
    char *hint;
    kith_error *cause;
    bool is_static;
    const char *message; /* text[] of this object, or a literal */
    char text[];
};

static const kith_error out_of_memory_error = {
    .code = KITH_ERROR_OUT_OF_MEMORY,
    .is_static = true,
    .message = "out of memory",
};

void panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "kith: internal error at %s:%d: %s\n", file, line, what);
    abort();
}

kith_error *error_out_of_memory(void)
{
    return (kith_error *)(uintptr_t)&out_of_memory_error;
}

static kith_error *error_new_v(enum kith_code code, const char *format, va_list arguments)
{
    char message[LIMIT_ERROR_MESSAGE_BYTES];
    int n = vsnprintf(message, sizeof message, format, arguments);
    size_t length = n < 0 ? 0 : strlen(message);
    kith_error *error = calloc(1, sizeof *error + length + 1);
    if (error == NULL)
        return error_out_of_memory();
    error->code = code;
    memcpy(error->text, message, length);
    error->message = error->text;
    return error;
}

kith_error *error_new(enum kith_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    kith_error *error = error_new_v(code, format, arguments);
    va_end(arguments);
    return error;
}

kith_error *error_from_errno(int errno_value, const char *format, ...)
{
    char context[LIMIT_ERROR_MESSAGE_BYTES / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context, sizeof context, format, arguments);
    va_end(arguments);

    enum kith_code code = errno_value == ENOENT   ? KITH_ERROR_NOT_FOUND
                          : errno_value == ENOMEM ? KITH_ERROR_OUT_OF_MEMORY
                                                  : KITH_ERROR_IO;
    char reason[128];
    return error_new(code, "%s: %s", context, strerror_r(errno_value, reason, sizeof reason));
}

kith_error *error_wrap(kith_error *take_cause, const char *format, ...)
{
    if (take_cause == NULL || take_cause->is_static)
        return take_cause;
    va_list arguments;
    va_start(arguments, format);
    kith_error *error = error_new_v(take_cause->code, format, arguments);
    va_end(arguments);
    if (error->is_static) {
        error_free(take_cause);
        return error;
    }
    error->position = take_cause->position;
    error->hint = TAKE(take_cause->hint);
    error->cause = take_cause;
    return error;
}

kith_error *error_at(kith_error *take_error, size_t sql_offset)
{
    if (take_error != NULL && !take_error->is_static && take_error->position == 0)
        take_error->position = sql_offset + 1;
    return take_error;
}

kith_error *error_hint(kith_error *take_error, const char *format, ...)
{
    if (take_error == NULL || take_error->is_static)
        return take_error;
    char hint[LIMIT_ERROR_MESSAGE_BYTES / 4];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(hint, sizeof hint, format, arguments);
    va_end(arguments);
    free(take_error->hint);
    take_error->hint = strdup(hint); /* a lost hint is no reason to lose the error */
    return take_error;
}

kith_error *error_copy(const kith_error *error)
{
    if (error == NULL || error->is_static)
        return (kith_error *)(uintptr_t)error;
    kith_error *copy = error_new(error->code, "%s", error->message);
    if (copy->is_static)
        return copy;
    copy->position = error->position;
    if (error->hint != NULL)
        copy->hint = strdup(error->hint);
    copy->cause = error_copy(error->cause);
    return copy;
}

void error_free(kith_error *error)
{
    while (error != NULL && !error->is_static) {
        kith_error *cause = error->cause;
        free(error->hint);
        free(error);
        error = cause;
    }
}

char *error_describe(const kith_error *error, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (; error != NULL && used < size; error = error->cause) {
        int n = snprintf(out + used, size - used, "%s%s", used == 0 ? "" : ": ", kith_error_message(error));
        if (n < 0)
            break;
        used += (size_t)n;
    }
    return out;
}

const char *error_code_name(enum kith_code code)
{
    switch (code) {
    case KITH_OK:
        return "OK";
#define NAME_CASE(name, number, sqlstate, meaning) \
    case KITH_ERROR_##name:                        \
        return #name;
        KITH_ERROR_CODES(NAME_CASE)
#undef NAME_CASE
    }
    return "UNKNOWN";
}

__attribute__((visibility("default"))) const char *kith_error_message(const kith_error *error)
{
    return error->message;
}

__attribute__((visibility("default"))) enum kith_code kith_error_code(const kith_error *error)
{
    return error->code;
}

__attribute__((visibility("default"))) const char *kith_error_sqlstate(const kith_error *error)
{
    switch (error->code) {
    case KITH_OK:
        return "00000";
#define SQLSTATE_CASE(name, number, sqlstate, meaning) \
    case KITH_ERROR_##name:                            \
        return sqlstate;
        KITH_ERROR_CODES(SQLSTATE_CASE)
#undef SQLSTATE_CASE
    }
    return "XX000";
}

__attribute__((visibility("default"))) const char *kith_error_hint(const kith_error *error)
{
    return error->hint;
}

__attribute__((visibility("default"))) size_t kith_error_position(const kith_error *error)
{
    return error->position;
}

__attribute__((visibility("default"))) const kith_error *kith_error_cause(const kith_error *error)
{
    return error->cause;
}

__attribute__((visibility("default"))) void kith_error_free(kith_error *error)
{
    error_free(error);
}
