/*
 * Schemas: named, typed columns; they and the whole with optional key-value metadata. Immutable and reference-counted
 * once built.
 */
#ifndef KITH_COLUMNAR_SCHEMA_H
#define KITH_COLUMNAR_SCHEMA_H

#include "base/refcount.h"
#include "columnar/type.h"

struct key_value {
    char *key;
    char *value;
};

struct field {
    char *name;
    struct data_type type;
    bool nullable;
    struct field *children; /* nested types only; owned, `child_count` of them */
    size_t child_count;
    struct key_value *metadata; /* owned, `metadata_count` of them */
    size_t metadata_count;
};

struct schema {
    struct refcount refs;
    size_t field_count;
    struct field *fields;
    size_t metadata_count;
    struct key_value *metadata;
};

/* Copies `fields` deeply. */
kith_error *schema_new(const struct field *fields, size_t count, struct schema **out) _must_check_;
kith_error *schema_add_metadata(struct schema *unshared, const char *key, const char *value) _must_check_;
kith_error *field_add_metadata(struct field *field, const char *key, const char *value) _must_check_;
struct schema *schema_ref(struct schema *schema);
void schema_unref(struct schema *schema);
DEFINE_CLEANUP(schema_unref, struct schema)

/* Names, types and nullability are equal, children too; metadata is not compared. */
bool schema_equal(const struct schema *a, const struct schema *b);

/* The first field of that exact name, or -1. */
ptrdiff_t schema_find(const struct schema *schema, const char *name);

/* A schema of the given fields, in the given order. */
kith_error *schema_project(const struct schema *schema, const size_t *fields, size_t count,
                           struct schema **out) _must_check_;

/* Deep copy into zeroed `out`; field_reset frees what a field owns. */
kith_error *field_copy(const struct field *field, struct field *out) _must_check_;
void field_reset(struct field *field);
/* An array of fields and what they own. */
void fields_free(struct field *fields, size_t count);

#endif
