/*
 * Cancellation: a tree of tokens. Cancelling one cancels everything below it and wakes every fiber that waits under
 * it. The reason, with the code that it has (CANCELLED where none is given), is what those waits return and each
 * that asks is given. Thread-safe; reference-counted.
 */
#ifndef KITH_RUNTIME_CANCEL_H
#define KITH_RUNTIME_CANCEL_H

#include "base/error.h"

struct cancel_token;
struct runtime;

/* `parent` may be NULL; a child holds a reference to its parent. */
kith_error *cancel_token_new(struct cancel_token *parent, struct cancel_token **out) _must_check_;
struct cancel_token *cancel_token_ref(struct cancel_token *token);
void cancel_token_unref(struct cancel_token *token);
DEFINE_CLEANUP(cancel_token_unref, struct cancel_token)

/* Fibers that are started under the token from now on, or under one made below it, have one share of the threads
 * between them, however many they are: a query's. Once, before there are any. */
kith_error *cancel_token_share_time(struct cancel_token *token, const struct runtime *runtime) _must_check_;

/* The first reason wins; later calls free theirs. NULL stands for "the query was cancelled". */
void cancel_token_cancel(struct cancel_token *token, kith_error *take_reason);
bool cancel_token_is_cancelled(const struct cancel_token *token);

/* When it or what it is below was cancelled, on the machine's monotonic clock; 0 while it is not. */
int64_t cancel_token_cancelled_ns(const struct cancel_token *token);

/* NULL while not cancelled (or `token` is NULL), otherwise an owned copy of the reason. */
kith_error *cancel_token_check(struct cancel_token *token) _must_check_;

#endif
