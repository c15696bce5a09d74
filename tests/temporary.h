/*
 * A folder of its own for each test that writes files: given to cmocka as setup and teardown, it is the working
 * directory of the test and goes away with everything in it, however the test ends.
 *
 *     cmocka_unit_test_setup_teardown(writes_a_file, temporary_folder_enter, temporary_folder_leave)
 *
 * The test's state is the folder's path. Not for programs whose tests run at the same time in one process.
 */
#ifndef KITH_TESTS_TEMPORARY_H
#define KITH_TESTS_TEMPORARY_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int temporary_folder_enter(void **state)
{
    const char *parent = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/kith-test-XXXXXX", parent != NULL ? parent : P_tmpdir);
    if (mkdtemp(path) == NULL || chdir(path) != 0)
        return -1;
    *state = strdup(path);
    return *state == NULL ? -1 : 0;
}

static inline int temporary_remove_(const char *path, const struct stat *status, int type, struct FTW *place)
{
    return remove(path);
}

static inline int temporary_folder_leave(void **state)
{
    int result = chdir("/");
    if (nftw(*state, temporary_remove_, 16, FTW_DEPTH | FTW_PHYS) != 0)
        result = -1;
    free(*state);
    return result;
}

/* Writes a file, with the folders on its way. Gives -1 when that fails. */
static inline int temporary_file(const char *path, const void *data, size_t size)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(folder, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return -1;
    size_t written = fwrite(data, 1, size, file);
    return fclose(file) == 0 && written == size ? 0 : -1;
}

#endif
