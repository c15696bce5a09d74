/*
 * Paths of local files as DataFusion's plans hold them: an object store's URL ("file:///") and a path in it, without
 * the leading slash. What is sent is absolute, since a worker has another working directory.
 */
#ifndef KITH_WIRE_FILE_PATH_H
#define KITH_WIRE_FILE_PATH_H

#include "base/arena.h"

#define FILE_STORE_URL "file:///"

/* A path as storage_open takes it to a path in FILE_STORE_URL; in `arena`. */
kith_error *file_path_encode(const char *path, struct arena *arena, char **out) _must_check_;
/* And back, absolute. */
kith_error *file_path_decode(const char *path, struct arena *arena, char **out) _must_check_;

#endif
