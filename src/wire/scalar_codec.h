/*
 * Single values as DataFusion's ScalarValue, typed NULLs included: literals of expressions and bounds of Top-Ks.
 */
#ifndef KITH_WIRE_SCALAR_CODEC_H
#define KITH_WIRE_SCALAR_CODEC_H

#include "columnar/scalar.h"

#include "datafusion_common.pb-c.h"

/* In `arena`; texts and bytes are borrowed from the scalar. */
kith_error *scalar_encode(const struct scalar *scalar, struct arena *arena,
                          DatafusionCommon__ScalarValue **out) _must_check_;

/* Texts and bytes are copied into `arena`. CORRUPT for a number that its type cannot hold and for text that is not
 * UTF-8; a dictionary's value is that of its entry. */
kith_error *scalar_decode(const DatafusionCommon__ScalarValue *message, struct arena *arena,
                          struct scalar *out) _must_check_;

#endif
