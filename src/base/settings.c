#include "base/settings.h"

#include "base/strbuf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

const struct setting_info setting_infos[SETTING_COUNT] = {
#define SETTING_INFO(id, name, type, value, least, most, choices, doc) \
    {name, SETTING_##type, value, least, most, choices, doc},
    KITH_SETTINGS(SETTING_INFO)
#undef SETTING_INFO
};

void settings_init(struct settings *settings)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        settings->values[i] = setting_infos[i].default_value;
}

kith_error *setting_find(const char *name, enum setting *out)
{
    static const char prefix[] = "datafusion.";
    const char *bare = strncasecmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
    const char *names[SETTING_COUNT];
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        names[i] = setting_infos[i].name;
        if (strcasecmp(bare, names[i]) == 0) {
            *out = (enum setting)i;
            return NULL;
        }
    }
    kith_error *error = error_new(KITH_ERROR_UNDEFINED_SETTING, "there is no setting \"%s\"", name);
    const char *nearest = str_nearest(bare, names, SETTING_COUNT);
    return nearest != NULL ? error_hint(error, "Did you mean \"%s\"?", nearest)
                           : error_hint(error, "SHOW ALL lists the settings.");
}

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit byte_units[] = {
    {"", 1},          {"b", 1},         {"k", 1 << 10},    {"kb", 1 << 10},    {"kib", 1 << 10},
    {"m", 1 << 20},   {"mb", 1 << 20},  {"mib", 1 << 20},  {"g", 1 << 30},     {"gb", 1 << 30},
    {"gib", 1 << 30}, {"t", 1LL << 40}, {"tb", 1LL << 40}, {"tib", 1LL << 40},
};
static const struct unit time_units[] = {{"", 1}, {"ms", 1}, {"s", 1000}, {"min", 60000}, {"h", 3600000}};
static const struct unit no_units[] = {{"", 1}};

static bool parse_with_unit(const char *text, const struct unit *units, size_t unit_count, int64_t *out)
{
    char *end;
    errno = 0;
    int64_t number = strtoll(text, &end, 10);
    if (end == text || errno != 0)
        return false;
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < unit_count; i++)
        if (strcasecmp(end, units[i].name) == 0)
            return !__builtin_mul_overflow(number, units[i].factor, out);
    return false;
}

static bool parse_bool(const char *text, int64_t *out)
{
    static const char *const words[] = {"false", "true", "off", "on", "no", "yes", "0", "1"};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out = (int64_t)(i & 1);
            return true;
        }
    }
    return false;
}

/* The `index`-th word of a comma-separated list; empty when there is none. */
static struct str choice_at(const char *choices, int64_t index)
{
    while (index-- > 0 && *choices != '\0') {
        choices += strcspn(choices, ",");
        choices += *choices == ',';
    }
    return (struct str){choices, strcspn(choices, ",")};
}

static bool parse_choice(const char *text, const struct setting_info *info, int64_t *out)
{
    for (int64_t i = info->least; i <= info->most; i++) {
        struct str word = choice_at(info->choices, i);
        if (strlen(text) == word.length && strncasecmp(text, word.data, word.length) == 0) {
            *out = i;
            return true;
        }
    }
    /* A list that begins with off,on takes truth values, too. */
    return strncmp(info->choices, "off,on,", strlen("off,on,")) == 0 && parse_bool(text, out);
}

static bool parse_value(const struct setting_info *info, const char *text, int64_t *out)
{
    switch (info->type) {
    case SETTING_BOOL:
        return parse_bool(text, out);
    case SETTING_NUMBER:
        return parse_with_unit(text, no_units, ARRAY_SIZE(no_units), out);
    case SETTING_BYTES:
        return parse_with_unit(text, byte_units, ARRAY_SIZE(byte_units), out);
    case SETTING_MILLISECONDS:
        return parse_with_unit(text, time_units, ARRAY_SIZE(time_units), out);
    case SETTING_CHOICE:
        return parse_choice(text, info, out);
    }
    return false;
}

kith_error *settings_set(struct settings *settings, enum setting setting, const char *text)
{
    static const char *const expected[] = {"true or false", "a whole number", "a size such as 64MiB",
                                           "a time such as 250ms", "one of "};
    const struct setting_info *info = &setting_infos[setting];
    int64_t value;
    if (!parse_value(info, text, &value))
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "\"%s\" is no value for %s: expected %s%s", text, info->name,
                         expected[info->type], info->choices == NULL ? "" : info->choices);
    if (value < info->least || value > info->most)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "%s takes values from %" PRId64 " to %" PRId64 ", not %" PRId64,
                         info->name, info->least, info->most, value);
    settings->values[setting] = value;
    return NULL;
}

void settings_format(const struct settings *settings, enum setting setting, char *out, size_t size)
{
    const struct setting_info *info = &setting_infos[setting];
    int64_t value = settings->values[setting];
    switch (info->type) {
    case SETTING_BOOL:
        snprintf(out, size, "%s", value != 0 ? "true" : "false");
        return;
    case SETTING_MILLISECONDS:
        snprintf(out, size, "%" PRId64 "ms", value);
        return;
    case SETTING_CHOICE: {
        struct str word = choice_at(info->choices, value);
        snprintf(out, size, "%.*s", (int)word.length, word.data);
        return;
    }
    case SETTING_NUMBER:
    case SETTING_BYTES:
        snprintf(out, size, "%" PRId64, value);
        return;
    }
}
