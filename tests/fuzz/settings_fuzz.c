/* Setting values from any text: what is accepted reads back as itself. The first byte picks the setting. */
#include "fuzz/fuzz.h"

#include "base/settings.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256];
    if (size == 0 || size > sizeof text)
        return 0;
    enum setting setting = data[0] % SETTING_COUNT;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';

    struct settings first, again;
    settings_init(&first);
    settings_init(&again);
    _cleanup_(error_free) kith_error *refused = settings_set(&first, setting, text);
    if (refused == NULL) {
        char formatted[64];
        settings_format(&first, setting, formatted, sizeof formatted);
        _cleanup_(error_free) kith_error *error = settings_set(&again, setting, formatted);
        ASSERT(error == NULL);
    }
    ASSERT(settings_get(&again, setting) == settings_get(&first, setting));

    enum setting found;
    _cleanup_(error_free) kith_error *unknown = setting_find(text, &found);
    ASSERT(unknown != NULL || found < SETTING_COUNT);
    return 0;
}
