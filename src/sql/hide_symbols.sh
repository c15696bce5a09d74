#!/bin/sh
# usage: hide_symbols.sh CC OUTPUT NAME... — links all of libpg_query.a into one object and makes every global name but NAMEs local.
set -eu
cc=$1
output=$2
shift 2
archive=$("$cc" -print-file-name=libpg_query.a)
[ -e "$archive" ] || { echo "libpg_query.a was not found: install libpg-query-dev" >&2; exit 1; }
ld -r -o "$output" --whole-archive "$archive"
set -- $(printf -- '--keep-global-symbol=%s ' "$@")
objcopy "$@" "$output"
