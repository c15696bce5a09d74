/*
 * What the functions of storage.h share: the local path that a given path or file: URL names.
 */
#ifndef KITH_STORAGE_PATH_H
#define KITH_STORAGE_PATH_H

#include "base/error.h"

/* Points *out into `path`, past "file://" if it has that. Another scheme is NOT_IMPLEMENTED, an empty path
 * INVALID_ARGUMENT. */
kith_error *storage_local_path(const char *path, const char **out) _must_check_;

#endif
