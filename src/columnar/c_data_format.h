/*
 * The format strings of Arrow's C data interface ("l", "tsu:UTC", "d:15,2", "+s"): data types in and out of them.
 * Dictionary encoding is not in the string of the values; the caller pairs two.
 */
#ifndef KITH_COLUMNAR_C_DATA_FORMAT_H
#define KITH_COLUMNAR_C_DATA_FORMAT_H

#include "columnar/type.h"

enum { C_DATA_FORMAT_BYTES = 64 };

/* The string of a type, dictionary encoding left out. `out` holds C_DATA_FORMAT_BYTES. */
void c_data_format_write(const struct data_type *type, char *out);

/* NOT_IMPLEMENTED, with the string, for types that Kith has not; CORRUPT for what is none. */
kith_error *c_data_format_read(const char *format, struct data_type *out) _must_check_;

#endif
