#include "fibers.h"
#include "temporary.h"

#include "runtime/channel.h"
#include "runtime/io.h"
#include "runtime/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

struct ends {
    int a;
    int b;
    size_t bytes;
    int64_t deadline_ns;
};

static void ends_init(struct ends *ends)
{
    int sockets[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets), 0);
    *ends = (struct ends){.a = sockets[0], .b = sockets[1], .deadline_ns = WAIT_FOREVER};
}

static void ends_reset(struct ends *ends)
{
    close(ends->a);
    close(ends->b);
}

static kith_error *write_all(int fd, size_t bytes)
{
    static const char data[8192];
    while (bytes > 0) {
        ssize_t n = write(fd, data, MIN(bytes, sizeof data));
        if (n >= 0) {
            bytes -= (size_t)n;
            continue;
        }
        EXPECT(errno == EAGAIN);
        unsigned ready = 0;
        TRY(io_wait(fd, IO_WRITABLE, WAIT_FOREVER, &ready));
        EXPECT(ready == IO_WRITABLE);
    }
    return NULL;
}

static kith_error *read_all(int fd, size_t bytes)
{
    char data[8192];
    while (bytes > 0) {
        ssize_t n = read(fd, data, MIN(bytes, sizeof data));
        if (n > 0) {
            bytes -= (size_t)n;
            continue;
        }
        EXPECT(n < 0 && errno == EAGAIN);
        unsigned ready = 0;
        TRY(io_wait(fd, IO_READABLE, WAIT_FOREVER, &ready));
        EXPECT(ready == IO_READABLE);
    }
    return NULL;
}

static kith_error *echo(void *argument)
{
    struct ends *ends = argument;
    for (size_t i = 0; i < 100; i++) {
        TRY(read_all(ends->b, 10));
        TRY(write_all(ends->b, 10));
    }
    return NULL;
}

static kith_error *send_and_await_echo(void *argument)
{
    struct ends *ends = argument;
    struct fiber *fiber = NULL;
    TRY(spawn(echo, ends, &fiber));
    for (size_t i = 0; i < 100; i++) {
        TRY(write_all(ends->a, 10));
        TRY(read_all(ends->a, 10));
    }
    io_forget(ends->a);
    io_forget(ends->b);
    return fiber_join(fiber);
}

static void two_fibers_talk_over_a_socket(void **state)
{
    for (size_t threads = 1; threads <= 2; threads++) {
        struct ends ends;
        ends_init(&ends);
        run_on(threads, send_and_await_echo, &ends);
        ends_reset(&ends);
    }
}

static kith_error *read_a(void *argument)
{
    struct ends *ends = argument;
    return read_all(ends->a, ends->bytes);
}

static kith_error *read_b(void *argument)
{
    struct ends *ends = argument;
    return read_all(ends->b, ends->bytes);
}

static kith_error *write_a(void *argument)
{
    struct ends *ends = argument;
    return write_all(ends->a, ends->bytes);
}

static kith_error *write_b(void *argument)
{
    struct ends *ends = argument;
    return write_all(ends->b, ends->bytes);
}

static kith_error *all_four(void *argument)
{
    const fiber_function functions[] = {read_a, read_b, write_a, write_b};
    struct fiber *fibers[4];
    for (size_t i = 0; i < 4; i++)
        TRY(spawn(functions[i], argument, &fibers[i]));
    for (size_t i = 0; i < 4; i++)
        TRY(fiber_join(fibers[i]));
    return NULL;
}

static void a_descriptor_has_a_reader_and_a_writer_at_once(void **state)
{
    for (size_t threads = 1; threads <= 3; threads++) {
        struct ends ends;
        ends_init(&ends);
        ends.bytes = 3000000; /* many times what a socket buffers, so that both directions fill up */
        run_on(threads, all_four, &ends);
        ends_reset(&ends);
    }
}

static kith_error *expect_hangup(void *argument)
{
    struct ends *ends = argument;
    unsigned ready = 0;
    TRY(io_wait(ends->b, IO_READABLE, WAIT_FOREVER, &ready));
    char byte;
    EXPECT(ready == IO_READABLE && read(ends->b, &byte, 1) == 0);
    return NULL;
}

static kith_error *hang_up(void *argument)
{
    struct ends *ends = argument;
    struct fiber *fiber = NULL;
    TRY(spawn(expect_hangup, ends, &fiber));
    TRY(fiber_yield());
    shutdown(ends->a, SHUT_RDWR);
    return fiber_join(fiber);
}

static void a_peer_that_hangs_up_is_readable(void **state)
{
    struct ends ends;
    ends_init(&ends);
    run_on(1, hang_up, &ends);
    ends_reset(&ends);
}

static kith_error *wait_for_byte(void *argument)
{
    struct ends *ends = argument;
    unsigned ready = 0;
    return io_wait(ends->b, IO_READABLE, ends->deadline_ns, &ready);
}

static kith_error *time_out_and_then_read(void *argument)
{
    struct ends *ends = argument;
    ends->deadline_ns = clock_monotonic_ns(&system_clock) + NANOSECONDS_PER_MILLISECOND;
    EXPECT_FAILS(wait_for_byte(ends), KITH_ERROR_TIMEOUT);
    EXPECT(clock_monotonic_ns(&system_clock) >= ends->deadline_ns);
    TRY(write_all(ends->a, 1));
    ends->deadline_ns = WAIT_FOREVER;
    TRY(wait_for_byte(ends));
    return NULL;
}

static void waiting_times_out_and_can_be_repeated(void **state)
{
    struct ends ends;
    ends_init(&ends);
    run_on(1, time_out_and_then_read, &ends);
    ends_reset(&ends);
}

static kith_error *forget_while_waiting(void *argument)
{
    struct ends *ends = argument;
    struct fiber *fiber = NULL;
    TRY(spawn(wait_for_byte, ends, &fiber));
    TRY(fiber_yield());
    EXPECT_FAILS(wait_for_byte(ends), KITH_ERROR_INTERNAL); /* the second to wait for the same */
    io_forget(ends->b);
    EXPECT_FAILS(fiber_join(fiber), KITH_ERROR_CANCELLED);
    return NULL;
}

static void forgetting_ends_the_wait(void **state)
{
    struct ends ends;
    ends_init(&ends);
    run_on(1, forget_while_waiting, &ends);
    ends_reset(&ends);
}

static kith_error *reuse_descriptor_numbers(void *argument)
{
    for (size_t i = 0; i < 20; i++) {
        int pipe_ends[2];
        EXPECT(pipe2(pipe_ends, O_NONBLOCK | O_CLOEXEC) == 0);
        struct ends ends = {.a = pipe_ends[1], .b = pipe_ends[0], .bytes = 5};
        struct fiber *fiber = NULL;
        TRY(spawn(read_b, &ends, &fiber));
        TRY(fiber_yield());
        TRY(write_all(ends.a, 5));
        TRY(fiber_join(fiber));
        if (i % 2 == 0) /* not forgetting is a mistake, but one that must not lose an event */
            io_forget(ends.b);
        close(ends.a);
        close(ends.b);
    }
    return NULL;
}

static void a_descriptor_number_that_is_used_again_works(void **state)
{
    run_on(1, reuse_descriptor_numbers, NULL);
}

static void a_thread_outside_can_wait_for_a_descriptor(void **state)
{
    struct ends ends;
    ends_init(&ends);
    ends.deadline_ns = clock_monotonic_ns(&system_clock) + NANOSECONDS_PER_MILLISECOND;
    assert_fails(wait_for_byte(&ends), KITH_ERROR_TIMEOUT, "descriptor");
    assert_int_equal(write(ends.a, "x", 1), 1);
    ends.deadline_ns = WAIT_FOREVER;
    assert_ok(wait_for_byte(&ends));
    ends_reset(&ends);
}

/* On one thread: the offloaded call can only return after another fiber has run meanwhile. */
static kith_error *wait_for_post(void *argument)
{
    while (sem_wait(argument) != 0)
        ;
    return error_new(KITH_ERROR_IO, "the disk is on fire");
}

static kith_error *offload_wait(void *argument)
{
    return offload(wait_for_post, argument);
}

static kith_error *offload_and_post(void *argument)
{
    struct fiber *fibers[6]; /* more than there are threads */
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(spawn(offload_wait, argument, &fibers[i]));
    TRY(fiber_yield());
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        sem_post(argument);
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        EXPECT_FAILS(fiber_join(fibers[i]), KITH_ERROR_IO);
    return NULL;
}

static void a_blocking_call_does_not_hold_the_worker_thread(void **state)
{
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    run_on(1, offload_and_post, &semaphore);
    run_on(2, offload_and_post, &semaphore);
    sem_destroy(&semaphore);
}

static kith_error *cancel_while_offloaded(void *argument)
{
    struct fiber *fiber = NULL;
    _cleanup_(cancel_token_unref) struct cancel_token *token = NULL;
    TRY(cancel_token_new(NULL, &token));
    TRY(fiber_spawn(runtime_current(), &(struct fiber_options){.cancel = token}, offload_wait, argument, &fiber));
    TRY(fiber_yield());
    cancel_token_cancel(token, NULL);
    TRY(fiber_yield());
    EXPECT(runtime_live_fibers(runtime_current()) == 2); /* still in the call */
    sem_post(argument);
    EXPECT_FAILS(fiber_join(fiber), KITH_ERROR_IO);
    return NULL;
}

static void a_cancelled_fiber_waits_for_its_blocking_call(void **state)
{
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    run_on(1, cancel_while_offloaded, &semaphore);
    sem_destroy(&semaphore);
}

struct file {
    int fd;
    unsigned char *expected;
    size_t size;
};

static kith_error *read_pieces(void *argument)
{
    struct file *file = argument;
    static unsigned char out[100000];
    uint64_t seed = 3;
    for (size_t i = 0; i < 50; i++) {
        size_t offset = test_random(&seed) % file->size;
        size_t length = MIN(test_random(&seed) % sizeof out, file->size - offset);
        TRY(file_read(file->fd, "data", out, length, (int64_t)offset));
        EXPECT(memcmp(out, file->expected + offset, length) == 0);
    }
    posix_fadvise(file->fd, 0, 0, POSIX_FADV_DONTNEED); /* so that some reads are not in the page cache */
    TRY(file_read(file->fd, "data", out, 1000, 5000));
    EXPECT(memcmp(out, file->expected + 5000, 1000) == 0);
    EXPECT_FAILS(file_read(file->fd, "data", out, 11, (int64_t)file->size - 10), KITH_ERROR_CORRUPT);
    EXPECT_FAILS(file_read(-1, "data", out, 1, 0), KITH_ERROR_IO);
    return NULL;
}

static void reading_a_file_gives_its_bytes_or_says_where_it_ends(void **state)
{
    static unsigned char bytes[300000];
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)test_random(&seed);
    struct file file = {
        .fd = open("data", O_CREAT | O_RDWR | O_CLOEXEC, 0600), .expected = bytes, .size = sizeof bytes};
    assert_true(file.fd >= 0);
    assert_int_equal(write(file.fd, bytes, sizeof bytes), sizeof bytes);
    fsync(file.fd);
    run_on(1, read_pieces, &file);
    assert_ok(read_pieces(&file)); /* outside a fiber */
    unsigned char out[20];
    assert_fails(file_read(file.fd, "data.parquet", out, 20, 299990), KITH_ERROR_CORRUPT,
                 "data.parquet ends at offset 300000, where 10 more bytes were expected");
    close(file.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_fibers_talk_over_a_socket),
        cmocka_unit_test(a_descriptor_has_a_reader_and_a_writer_at_once),
        cmocka_unit_test(a_peer_that_hangs_up_is_readable),
        cmocka_unit_test(waiting_times_out_and_can_be_repeated),
        cmocka_unit_test(forgetting_ends_the_wait),
        cmocka_unit_test(a_descriptor_number_that_is_used_again_works),
        cmocka_unit_test(a_thread_outside_can_wait_for_a_descriptor),
        cmocka_unit_test(a_blocking_call_does_not_hold_the_worker_thread),
        cmocka_unit_test(a_cancelled_fiber_waits_for_its_blocking_call),
        cmocka_unit_test_setup_teardown(reading_a_file_gives_its_bytes_or_says_where_it_ends, temporary_folder_enter,
                                        temporary_folder_leave),
    };
    return cmocka_run_group_tests_name("runtime/io", tests, NULL, NULL);
}
