#include "runtime/fibers.h"

#include "base/alloc.h"
#include "net/address.h"
#include "net/pipe.h"
#include "net/socket.h"
#include "runtime/sync.h"

#include <unistd.h>

static void addresses_are_taken_apart(void **state)
{
    struct address address;
    assert_ok(address_parse("127.0.0.1:50051", &address));
    assert_string_equal(address.host, "127.0.0.1");
    assert_string_equal(address.port, "50051");
    assert_ok(address_parse("[::1]:0", &address));
    assert_string_equal(address.host, "::1");
    assert_string_equal(address.port, "0");
    assert_ok(address_parse("worker-7.example:65535", &address));
    assert_string_equal(address.host, "worker-7.example");
    assert_ok(address_parse("unix:/run/kith.sock", &address));
    assert_true(address.is_unix);
    assert_string_equal(address.host, "/run/kith.sock");
}

static void what_is_not_an_address_is_named(void **state)
{
    static const char *const bad[] = {"",      "localhost", ":5",       "host:", "host:65536", "host:-1",    "host:5x",
                                      "::1:5", "[::1:5",    "[::1]5:6", "[]:5",  "unix:",      "host:000005"};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct address address;
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\" is not an address", bad[i]);
        assert_fails(address_parse(bad[i], &address), KITH_ERROR_INVALID_ARGUMENT, quoted);
    }
    char path[200] = "unix:/";
    memset(path + 6, 'p', sizeof path - 7);
    path[sizeof path - 1] = '\0';
    struct address address;
    assert_fails(address_parse(path, &address), KITH_ERROR_INVALID_ARGUMENT, "107 bytes");
}

/* ---- Both kinds of transports do the same ---- */

struct ends {
    struct transport *a;
    struct transport *b;
};

static kith_error *write_pattern(void *argument)
{
    struct transport *transport = argument;
    static uint8_t bytes[100000];
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random(&seed);
    for (int round = 0; round < 20; round++) {
        struct iovec pieces[] = {{bytes, 1}, {bytes + 1, 0}, {bytes + 1, 60000}, {bytes + 60001, sizeof bytes - 60001}};
        TRY(transport_write(transport, pieces, ARRAY_SIZE(pieces), WAIT_FOREVER));
    }
    transport_shutdown(transport, TRANSPORT_BOTH);
    return NULL;
}

static kith_error *read_pattern(struct transport *transport)
{
    uint8_t part[7777];
    size_t total = 0;
    uint64_t seed = 3;
    for (;;) {
        size_t got;
        TRY(transport_read(transport, part, sizeof part, WAIT_FOREVER, &got));
        if (got == 0)
            break;
        for (size_t i = 0; i < got; i++, total++) {
            if (total % 100000 == 0)
                seed = 3;
            EXPECT(part[i] == (uint8_t)test_random(&seed));
        }
    }
    EXPECT(total == 2000000);
    return NULL;
}

static kith_error *check_bytes(struct ends *ends)
{
    struct fiber *writer;
    TRY(spawn(write_pattern, ends->a, &writer));
    kith_error *error = read_pattern(ends->b);
    TRY(fiber_join(writer));
    return error;
}

static kith_error *check_waits(struct ends *ends)
{
    const struct clock *clock = runtime_clock(runtime_current());
    uint8_t byte;
    size_t got = 0;
    int64_t soon = clock_monotonic_ns(clock) + 20 * NANOSECONDS_PER_MILLISECOND;
    EXPECT_FAILS(transport_read(ends->a, &byte, 1, soon, &got), KITH_ERROR_TIMEOUT);
    EXPECT(clock_monotonic_ns(clock) >= soon);

    /* Nobody reads at b. */
    _cleanup_free_ uint8_t *much = NULL;
    TRY(alloc_zeroed(1, 64 << 20, &much));
    struct iovec piece = {much, 64 << 20};
    soon = clock_monotonic_ns(clock) + 20 * NANOSECONDS_PER_MILLISECOND;
    EXPECT_FAILS(transport_write(ends->a, &piece, 1, soon), KITH_ERROR_TIMEOUT);
    return NULL;
}

static kith_error *shut_read(void *argument)
{
    TRY(fiber_yield());
    transport_shutdown(argument, TRANSPORT_READ);
    return NULL;
}

static kith_error *check_shutdown(struct ends *ends)
{
    struct fiber *fiber;
    TRY(spawn(shut_read, ends->a, &fiber));
    uint8_t byte = 1;
    size_t got = 1;
    kith_error *error = transport_read(ends->a, &byte, 1, WAIT_FOREVER, &got);
    TRY(fiber_join(fiber));
    TRY(error);
    EXPECT(got == 0);
    /* Writing still works, until the other end is gone. */
    struct iovec piece = {&byte, 1};
    TRY(transport_write(ends->a, &piece, 1, WAIT_FOREVER));
    TRY(transport_read(ends->b, &byte, 1, WAIT_FOREVER, &got));
    EXPECT(got == 1);
    transport_free(TAKE(ends->b));
    kith_error *lost = NULL;
    while (lost == NULL) {
        piece = (struct iovec){&byte, 1};
        lost = transport_write(ends->a, &piece, 1, WAIT_FOREVER);
    }
    EXPECT_FAILS(lost, KITH_ERROR_UNAVAILABLE);
    return NULL;
}

static kith_error *pipe_ends(struct ends *out)
{
    return pipe_pair_new(5000, "pipe", &out->a, &out->b);
}

static kith_error *socket_ends(const char *address, struct ends *out)
{
    _cleanup_(listener_free) struct listener *listener = NULL;
    TRY(listener_open(address, &listener));
    TRY(socket_connect(listener_address(listener), WAIT_FOREVER, &out->a));
    return listener_accept(listener, &out->b);
}

static kith_error *with_ends(kith_error *error, struct ends *ends, kith_error *(*check)(struct ends *ends))
{
    if (error == NULL)
        error = check(ends);
    if (ends->a != NULL)
        transport_free(ends->a);
    if (ends->b != NULL)
        transport_free(ends->b);
    *ends = (struct ends){0};
    return error;
}

static kith_error *check_all(void *argument)
{
    kith_error *(*const checks[])(struct ends *) = {check_bytes, check_waits, check_shutdown};
    char path[64];
    snprintf(path, sizeof path, "unix:/tmp/kith-transport-%d", (int)getpid());
    const char *const addresses[] = {"127.0.0.1:0", "[::1]:0", "localhost:0", path};
    for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
        struct ends ends = {0};
        TRY(with_ends(pipe_ends(&ends), &ends, checks[i]));
        for (size_t j = 0; j < ARRAY_SIZE(addresses); j++)
            TRY(error_wrap(with_ends(socket_ends(addresses[j], &ends), &ends, checks[i]), "%s", addresses[j]));
    }
    EXPECT(access(path + strlen("unix:"), F_OK) != 0);
    return NULL;
}

static void transports_carry_bytes_wait_and_end(void **state)
{
    run_on(1, check_all, NULL);
    run_on(2, check_all, NULL);
}

static kith_error *accept_cancelled(void *argument)
{
    struct transport *transport = NULL;
    return listener_accept(argument, &transport);
}

static kith_error *listener_main(void *argument)
{
    _cleanup_(listener_free) struct listener *listener = NULL;
    TRY(listener_open("127.0.0.1:0", &listener));
    struct fiber *fiber;
    TRY(spawn(accept_cancelled, listener, &fiber));
    TRY(fiber_yield());
    listener_shutdown(listener);
    EXPECT_FAILS(fiber_join(fiber), KITH_ERROR_CANCELLED);
    return NULL;
}

static void a_listener_that_is_shut_down_stops_accepting(void **state)
{
    run_on(1, listener_main, NULL);
    run_on(2, listener_main, NULL);
}

static kith_error *occupied_main(void *argument)
{
    _cleanup_(listener_free) struct listener *listener = NULL;
    TRY(listener_open("127.0.0.1:0", &listener));
    struct listener *second = NULL;
    kith_error *error = listener_open(listener_address(listener), &second);
    EXPECT(error != NULL);
    bool named = strstr(kith_error_message(error), listener_address(listener)) != NULL;
    error_free(error);
    EXPECT(named);
    struct transport *transport = NULL;
    EXPECT_FAILS(socket_connect("no-such-host.invalid:1", WAIT_FOREVER, &transport), KITH_ERROR_UNAVAILABLE);
    return NULL;
}

static void an_address_in_use_and_a_host_that_is_not_there_are_errors(void **state)
{
    run_on(1, occupied_main, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_taken_apart),
        cmocka_unit_test(what_is_not_an_address_is_named),
        cmocka_unit_test(transports_carry_bytes_wait_and_end),
        cmocka_unit_test(a_listener_that_is_shut_down_stops_accepting),
        cmocka_unit_test(an_address_in_use_and_a_host_that_is_not_there_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
