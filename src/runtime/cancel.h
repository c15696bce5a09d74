/*
 * Cancellation: a tree of tokens. Cancelling one cancels everything below it and wakes every fiber that waits under
 * it. The reason, with the code that it has (CANCELLED where none is given), is what those waits return and each
 * that asks is given. Thread-safe; reference-counted.
 */
#ifndef KITH_RUNTIME_CANCEL_H
#define KITH_RUNTIME_CANCEL_H

#include "base/error.h"

struct cancel_token;

/* `parent` may be NULL; a child holds a reference to its parent. */
kith_error *cancel_token_new(struct cancel_token *parent, struct cancel_token **out) _must_check_;
struct cancel_token *cancel_token_ref(struct cancel_token *token);
void cancel_token_unref(struct cancel_token *token);
DEFINE_CLEANUP(cancel_token_unref, struct cancel_token)

/* The first reason wins; later calls free theirs. NULL stands for "the query was cancelled". */
void cancel_token_cancel(struct cancel_token *token, kith_error *take_reason);
bool cancel_token_is_cancelled(const struct cancel_token *token);

/* NULL while not cancelled (or `token` is NULL), otherwise an owned copy of the reason. */
kith_error *cancel_token_check(struct cancel_token *token) _must_check_;

#endif
