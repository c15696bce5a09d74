/* Runs a fuzzer once over each file named, and over nothing at all: the known inputs, as a test of every build. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

/* The file in a block of its own size, so that reading past its end is seen by ASan and valgrind. */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*size == 0 ? 1 : *size);
    if (data == NULL || fread(data, 1, *size, file) != *size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return data;
}

int main(int count, char **arguments)
{
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < count; i++) {
        printf("%s\n", arguments[i]);
        size_t size;
        uint8_t *data = read_file(arguments[i], &size);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
