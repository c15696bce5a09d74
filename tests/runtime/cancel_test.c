#include "fibers.h"

#include "runtime/channel.h"
#include "runtime/io.h"
#include "runtime/sync.h"

#include <fcntl.h>
#include <unistd.h>

static void the_first_reason_is_given_to_everyone_below(void **state)
{
    _cleanup_(cancel_token_unref) struct cancel_token *root = NULL;
    _cleanup_(cancel_token_unref) struct cancel_token *child = NULL;
    _cleanup_(cancel_token_unref) struct cancel_token *grandchild = NULL;
    _cleanup_(cancel_token_unref) struct cancel_token *sibling = NULL;
    assert_ok(cancel_token_new(NULL, &root));
    assert_ok(cancel_token_new(root, &child));
    assert_ok(cancel_token_new(child, &grandchild));
    assert_ok(cancel_token_new(root, &sibling));
    assert_ok(cancel_token_check(grandchild));
    assert_ok(cancel_token_check(NULL));

    cancel_token_cancel(child, error_new(KITH_ERROR_UNAVAILABLE, "worker 2 has gone"));
    cancel_token_cancel(child, error_new(KITH_ERROR_IO, "too late"));
    cancel_token_cancel(grandchild, error_new(KITH_ERROR_IO, "too late"));
    assert_fails(cancel_token_check(child), KITH_ERROR_UNAVAILABLE, "worker 2 has gone");
    assert_fails(cancel_token_check(grandchild), KITH_ERROR_UNAVAILABLE, "worker 2 has gone");
    assert_false(cancel_token_is_cancelled(root));
    assert_false(cancel_token_is_cancelled(sibling));

    cancel_token_cancel(root, NULL);
    assert_fails(cancel_token_check(sibling), KITH_ERROR_CANCELLED, "the query was cancelled");
    assert_fails(cancel_token_check(grandchild), KITH_ERROR_UNAVAILABLE, "worker 2 has gone");
}

static void a_child_of_a_cancelled_token_is_born_cancelled(void **state)
{
    _cleanup_(cancel_token_unref) struct cancel_token *root = NULL;
    assert_ok(cancel_token_new(NULL, &root));
    cancel_token_cancel(root, error_new(KITH_ERROR_CANCELLED, "by the user"));
    _cleanup_(cancel_token_unref) struct cancel_token *child = NULL;
    assert_ok(cancel_token_new(root, &child));
    assert_fails(cancel_token_check(child), KITH_ERROR_CANCELLED, "by the user");
}

static void a_child_keeps_its_parent_alive(void **state)
{
    struct cancel_token *root = NULL, *first = NULL, *second = NULL, *third = NULL;
    assert_ok(cancel_token_new(NULL, &root));
    assert_ok(cancel_token_new(root, &first));
    assert_ok(cancel_token_new(root, &second));
    assert_ok(cancel_token_new(root, &third));
    cancel_token_unref(second);
    cancel_token_cancel(root, NULL);
    cancel_token_unref(root);
    assert_true(cancel_token_is_cancelled(first));
    assert_true(cancel_token_is_cancelled(third));
    cancel_token_unref(third);
    assert_fails(cancel_token_check(first), KITH_ERROR_CANCELLED, "cancelled");
    cancel_token_unref(first);
}

/* Each kind of wait, in a fiber that nothing but cancellation ends. */
struct waits {
    struct cancel_token *token;
    struct channel *full;
    struct channel *empty;
    struct barrier *barrier;
    pthread_mutex_t mutex;
    struct wait_list list;
    int pipe_ends[2];
    fiber_function wait;
    atomic_size_t waiting; /* fibers that are about to wait */
};

static kith_error *wait_in_send(void *argument)
{
    bool sent = false;
    return channel_send(((struct waits *)argument)->full, argument, &sent);
}

static kith_error *wait_in_receive(void *argument)
{
    void *item = NULL;
    return channel_recv(((struct waits *)argument)->empty, &item);
}

static kith_error *wait_in_receive_with_deadline(void *argument)
{
    void *item = NULL;
    return channel_recv_until(((struct waits *)argument)->empty, INT64_MAX, &item);
}

static kith_error *wait_in_sleep(void *argument)
{
    return sleep_until(INT64_MAX);
}

static kith_error *wait_in_barrier(void *argument)
{
    return barrier_wait(((struct waits *)argument)->barrier);
}

static kith_error *wait_in_list(void *argument)
{
    struct waits *waits = argument;
    pthread_mutex_lock(&waits->mutex);
    kith_error *error = wait_list_wait(&waits->list, &waits->mutex, WAIT_FOREVER);
    pthread_mutex_unlock(&waits->mutex);
    return error;
}

static kith_error *wait_in_io(void *argument)
{
    unsigned ready = 0;
    return io_wait(((struct waits *)argument)->pipe_ends[0], IO_READABLE, WAIT_FOREVER, &ready);
}

static kith_error *wait_in_charges(void *argument)
{
    for (;;)
        TRY(coop_charge(1));
}

static kith_error *wait_in_yields(void *argument)
{
    for (;;)
        TRY(fiber_yield());
}

static kith_error *announce_and_wait(void *argument)
{
    struct waits *waits = argument;
    atomic_fetch_add(&waits->waiting, 1);
    EXPECT_FAILS(waits->wait(waits), KITH_ERROR_UNAVAILABLE);
    EXPECT_FAILS(waits->wait(waits), KITH_ERROR_UNAVAILABLE); /* a wait entered when cancelled ends at once */
    return NULL;
}

/* Its child inherits the token; joining it is a wait that only the child's own end ends. */
static kith_error *wait_in_join(void *argument)
{
    struct fiber *fiber = NULL;
    TRY(spawn(wait_in_sleep, argument, &fiber));
    return fiber_join(fiber);
}

static kith_error *cancel_what_waits(void *argument)
{
    struct waits *waits = argument;
    struct fiber *fiber = NULL;
    const struct fiber_options options = {.name = "waiting", .cancel = waits->token};
    TRY(fiber_spawn(runtime_current(), &options, announce_and_wait, waits, &fiber));
    while (atomic_load(&waits->waiting) == 0)
        TRY(fiber_yield());
    /* On one thread it waits by now. On several it may be anywhere between announcing and waiting, as it should. */
    cancel_token_cancel(waits->token, error_new(KITH_ERROR_UNAVAILABLE, "because"));
    return fiber_join(fiber);
}

static void waits_init(struct waits *waits, fiber_function wait)
{
    *waits = (struct waits){.wait = wait};
    pthread_mutex_init(&waits->mutex, NULL);
    assert_ok(cancel_token_new(NULL, &waits->token));
    assert_ok(channel_new(1, NULL, &waits->full));
    assert_true(channel_try_send(waits->full, waits));
    assert_ok(channel_new(1, NULL, &waits->empty));
    assert_ok(barrier_new(2, &waits->barrier));
    assert_int_equal(pipe2(waits->pipe_ends, O_NONBLOCK | O_CLOEXEC), 0);
}

static void waits_reset(struct waits *waits)
{
    close(waits->pipe_ends[0]);
    close(waits->pipe_ends[1]);
    barrier_free(waits->barrier);
    channel_unref(waits->full);
    channel_unref(waits->empty);
    cancel_token_unref(waits->token);
    pthread_mutex_destroy(&waits->mutex);
}

static void cancellation_ends_every_kind_of_wait(void **state)
{
    const fiber_function kinds[] = {
        wait_in_send,  wait_in_receive, wait_in_receive_with_deadline,
        wait_in_sleep, wait_in_barrier, wait_in_list,
        wait_in_io,    wait_in_charges, wait_in_yields,
        wait_in_join,
    };
    for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
        for (size_t threads = 1; threads <= 2; threads++) {
            for (size_t i = 0; i < 20; i++) {
                struct waits waits;
                waits_init(&waits, kinds[kind]);
                run_on(threads, cancel_what_waits, &waits);
                assert_null(waits.list.first);
                waits_reset(&waits);
            }
        }
    }
}

static kith_error *leave_and_pass_the_barrier(void *argument)
{
    struct waits *waits = argument;
    TRY(cancel_what_waits(waits));
    /* The cancelled one no longer counts: two others are needed, and enough. */
    struct fiber *fiber = NULL;
    TRY(spawn(wait_in_barrier, waits, &fiber));
    TRY(fiber_yield());
    EXPECT(runtime_live_fibers(runtime_current()) == 2);
    TRY(barrier_wait(waits->barrier));
    return fiber_join(fiber);
}

static void a_cancelled_fiber_leaves_the_barrier(void **state)
{
    struct waits waits;
    waits_init(&waits, wait_in_barrier);
    run_on(1, leave_and_pass_the_barrier, &waits);
    waits_reset(&waits);
}

/* Wake-ups and cancellations race; a wake-up that goes to a cancelled waiter must be passed on to one that is not. */
static kith_error *receive_one(void *argument)
{
    void *item = NULL;
    TRY(channel_recv(((struct waits *)argument)->empty, &item));
    atomic_fetch_add(&((struct waits *)argument)->waiting, 1);
    return NULL;
}

static kith_error *cancel_some_and_send_to_the_rest(void *argument)
{
    struct waits *waits = argument;
    struct fiber *fibers[20];
    struct cancel_token *tokens[20];
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++) {
        TRY(cancel_token_new(waits->token, &tokens[i]));
        TRY(fiber_spawn(runtime_current(), &(struct fiber_options){.cancel = tokens[i]}, receive_one, waits,
                        &fibers[i]));
    }
    TRY(fiber_yield());
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i += 2)
        cancel_token_cancel(tokens[i], NULL);
    /* As many as can be received by those that are left or won the race, and then the end. */
    for (size_t i = 0; i < ARRAY_SIZE(fibers) / 2; i++) {
        bool sent = false;
        TRY(channel_send(waits->empty, argument, &sent));
    }
    while (atomic_load(&waits->waiting) < ARRAY_SIZE(fibers) / 2)
        TRY(fiber_yield());
    channel_close(waits->empty, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++) {
        error_free(fiber_join(fibers[i]));
        cancel_token_unref(tokens[i]);
    }
    return NULL;
}

static void a_wake_up_is_not_lost_on_a_cancelled_waiter(void **state)
{
    for (size_t i = 0; i < 50; i++) {
        struct waits waits;
        waits_init(&waits, NULL);
        run_on(1 + i % 3, cancel_some_and_send_to_the_rest, &waits);
        waits_reset(&waits);
    }
}

static void a_thread_outside_can_cancel_a_thousand_sleepers(void **state)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    _cleanup_(cancel_token_unref) struct cancel_token *token = NULL;
    assert_ok(runtime_new(&(struct runtime_options){.threads = 2}, &runtime));
    assert_ok(cancel_token_new(NULL, &token));
    static struct fiber *fibers[1000];
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        assert_ok(fiber_spawn(runtime, &(struct fiber_options){.cancel = token}, wait_in_sleep, NULL, &fibers[i]));
    cancel_token_cancel(token, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        assert_fails(fiber_join(fibers[i]), KITH_ERROR_CANCELLED, "the query was cancelled");
    assert_int_equal(runtime_live_fibers(runtime), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_reason_is_given_to_everyone_below),
        cmocka_unit_test(a_child_of_a_cancelled_token_is_born_cancelled),
        cmocka_unit_test(a_child_keeps_its_parent_alive),
        cmocka_unit_test(cancellation_ends_every_kind_of_wait),
        cmocka_unit_test(a_cancelled_fiber_leaves_the_barrier),
        cmocka_unit_test(a_wake_up_is_not_lost_on_a_cancelled_waiter),
        cmocka_unit_test(a_thread_outside_can_cancel_a_thousand_sleepers),
    };
    return cmocka_run_group_tests_name("runtime/cancel", tests, NULL, NULL);
}
