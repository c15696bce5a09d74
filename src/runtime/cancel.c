#include "runtime/cancel.h"

#include "base/alloc.h"
#include "base/refcount.h"
#include "runtime/mutex.h"
#include "runtime/scheduler.h"

struct cancel_token {
    struct refcount refs;
    struct cancel_token *parent; /* a reference; NULL for the root */
    struct cancel_token *root;

    /* Set once, after `reason`, under the tree's mutex; a reader that finds it set may read `reason` without. */
    atomic_bool cancelled;
    kith_error *reason; /* NULL when it is an ancestor's */
    int64_t cancelled_ns;

    struct share_group *group; /* of fibers under it; NULL: each has a share of its own */
    bool owns_group;           /* it is not an ancestor's */

    /* The rest is guarded by the tree's mutex, which is the root's. A child is in its parent's list until it is freed,
     * without a reference. */
    pthread_mutex_t tree_mutex;
    struct cancel_token *first_child;
    struct cancel_token *previous_sibling;
    struct cancel_token *next_sibling;
    struct fiber *first_fiber;
};

kith_error *cancel_token_new(struct cancel_token *parent, struct cancel_token **out)
{
    struct cancel_token *token = NULL;
    TRY(NEW(&token));
    refcount_init(&token->refs);
    pthread_mutex_init(&token->tree_mutex, NULL);
    token->root = parent == NULL ? token : parent->root;
    if (parent != NULL) {
        token->parent = cancel_token_ref(parent);
        token->group = parent->group;
        HOLD_MUTEX(&token->root->tree_mutex);
        token->next_sibling = parent->first_child;
        if (parent->first_child != NULL)
            parent->first_child->previous_sibling = token;
        parent->first_child = token;
        atomic_store(&token->cancelled, atomic_load(&parent->cancelled));
    }
    *out = token;
    return NULL;
}

struct cancel_token *cancel_token_ref(struct cancel_token *token)
{
    refcount_take(&token->refs);
    return token;
}

static void leave_parent(struct cancel_token *token)
{
    HOLD_MUTEX(&token->root->tree_mutex);
    if (token->previous_sibling != NULL)
        token->previous_sibling->next_sibling = token->next_sibling;
    else
        token->parent->first_child = token->next_sibling;
    if (token->next_sibling != NULL)
        token->next_sibling->previous_sibling = token->previous_sibling;
}

void cancel_token_unref(struct cancel_token *token)
{
    while (token != NULL && refcount_drop(&token->refs)) {
        struct cancel_token *parent = token->parent;
        if (parent != NULL)
            leave_parent(token);
        if (token->owns_group)
            free(token->group);
        error_free(token->reason);
        pthread_mutex_destroy(&token->tree_mutex);
        free(token);
        token = parent;
    }
}

kith_error *cancel_token_share_time(struct cancel_token *token, const struct runtime *runtime)
{
    ASSERT(!token->owns_group);
    TRY(share_group_new(runtime->worker_count, &token->group));
    token->owns_group = true;
    return NULL;
}

/* The token after `token` in a walk of everything below `top`, parents before children; NULL at the end. */
static struct cancel_token *next_in_tree(struct cancel_token *token, const struct cancel_token *top)
{
    if (token->first_child != NULL)
        return token->first_child;
    while (token != top && token->next_sibling == NULL)
        token = token->parent;
    return token == top ? NULL : token->next_sibling;
}

void cancel_token_cancel(struct cancel_token *token, kith_error *take_reason)
{
    _cleanup_(error_free) kith_error *reason = take_reason;
    if (reason == NULL)
        reason = error_new(KITH_ERROR_CANCELLED, "the query was cancelled");

    HOLD_MUTEX(&token->root->tree_mutex);
    if (atomic_load(&token->cancelled))
        return;
    token->reason = TAKE(reason);
    token->cancelled_ns = clock_monotonic_ns(&system_clock);
    for (struct cancel_token *t = token; t != NULL; t = next_in_tree(t, token)) {
        atomic_store(&t->cancelled, true);
        for (struct fiber *fiber = t->first_fiber; fiber != NULL; fiber = fiber->token_next)
            waiter_wake(&fiber->waiter, WAITER_CANCELLED);
    }
}

int64_t cancel_token_cancelled_ns(const struct cancel_token *token)
{
    if (!atomic_load(&token->cancelled))
        return 0;
    while (token->reason == NULL)
        token = token->parent;
    return token->cancelled_ns;
}

bool cancel_token_is_cancelled(const struct cancel_token *token)
{
    return atomic_load(&token->cancelled);
}

const atomic_bool *cancel_token_flag(const struct cancel_token *token)
{
    static const atomic_bool never = false;
    return token == NULL ? &never : &token->cancelled;
}

kith_error *cancel_token_check(struct cancel_token *token)
{
    if (token == NULL || !atomic_load(&token->cancelled))
        return NULL;
    while (token->reason == NULL)
        token = token->parent;
    return error_copy(token->reason);
}

void cancel_token_attach(struct cancel_token *token, struct fiber *fiber)
{
    fiber->group = token->group;
    HOLD_MUTEX(&token->root->tree_mutex);
    fiber->token_previous = NULL;
    fiber->token_next = token->first_fiber;
    if (token->first_fiber != NULL)
        token->first_fiber->token_previous = fiber;
    token->first_fiber = fiber;
}

void cancel_token_detach(struct cancel_token *token, struct fiber *fiber)
{
    HOLD_MUTEX(&token->root->tree_mutex);
    if (fiber->token_previous != NULL)
        fiber->token_previous->token_next = fiber->token_next;
    else
        token->first_fiber = fiber->token_next;
    if (fiber->token_next != NULL)
        fiber->token_next->token_previous = fiber->token_previous;
}
