#include "runtime/poller.h"

#include "base/alloc.h"
#include "runtime/fiber.h"
#include "runtime/io.h"
#include "runtime/mutex.h"
#include "runtime/scheduler.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* One io_wait; lives on the waiting fiber's stack. Guarded by the poller's mutex. */
struct io_request {
    unsigned interests;
    unsigned ready;
    bool forgotten;
    struct wait_list waiting;
};

struct io_descriptor {
    struct io_request *reader; /* who waits for readable; NULL for nobody */
    struct io_request *writer; /* may be the same request */
    bool registered;           /* with epoll, as far as we know: closing a descriptor takes it out silently */
};

static void deliver(struct io_descriptor *descriptor, struct io_request *request, unsigned ready)
{
    if (request == NULL || (request->interests & ready) == 0)
        return;
    request->ready |= request->interests & ready;
    if (descriptor->reader == request)
        descriptor->reader = NULL;
    if (descriptor->writer == request)
        descriptor->writer = NULL;
    wait_list_wake_all(&request->waiting);
}

/* Arms the descriptor for everyone who waits for it. Gives EPERM for a file that epoll does not know, which is always
 * ready. */
static int arm(struct poller *poller, int fd)
{
    struct io_descriptor *descriptor = &poller->descriptors[fd];
    struct epoll_event event = {.events = EPOLLONESHOT, .data.fd = fd};
    if (descriptor->reader != NULL)
        event.events |= EPOLLIN | EPOLLRDHUP;
    if (descriptor->writer != NULL)
        event.events |= EPOLLOUT;

    int result = epoll_ctl(poller->epoll_fd, descriptor->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    if (result != 0 && errno == ENOENT)
        result = epoll_ctl(poller->epoll_fd, EPOLL_CTL_ADD, fd, &event);
    else if (result != 0 && errno == EEXIST)
        result = epoll_ctl(poller->epoll_fd, EPOLL_CTL_MOD, fd, &event);
    descriptor->registered = result == 0;
    return result == 0 ? 0 : errno;
}

static void handle_event(struct poller *poller, int fd, uint32_t events)
{
    HOLD_MUTEX(&poller->mutex);
    struct io_descriptor *descriptor = &poller->descriptors[fd];
    unsigned ready = 0;
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
        ready |= IO_READABLE;
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0)
        ready |= IO_WRITABLE;
    deliver(descriptor, descriptor->reader, ready);
    deliver(descriptor, descriptor->writer, ready);
    /* The one-shot is spent; whoever is left still waits for the other direction. */
    if (descriptor->reader != NULL || descriptor->writer != NULL)
        arm(poller, fd);
}

static kith_error *watch(struct poller *poller, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(poller->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        return error_from_errno(errno, "watching descriptor %d of the runtime's own", fd);
    return NULL;
}

void poller_init(struct poller *poller, struct timers *timers)
{
    *poller = (struct poller){.timers = timers, .epoll_fd = -1, .event_fd = -1};
    pthread_mutex_init(&poller->mutex, NULL);
}

kith_error *poller_start(struct poller *poller)
{
    poller->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (poller->epoll_fd < 0)
        return error_from_errno(errno, "creating the runtime's epoll");
    poller->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (poller->event_fd < 0)
        return error_from_errno(errno, "creating the runtime's eventfd");
    TRY(watch(poller, poller->event_fd));
    if (poller->timers->timer_fd >= 0)
        TRY(watch(poller, poller->timers->timer_fd));
    return NULL;
}

bool poller_try_take(struct poller *poller)
{
    return !atomic_load(&poller->taken) && !atomic_exchange(&poller->taken, true);
}

void poller_release(struct poller *poller)
{
    atomic_store(&poller->taken, false);
}

bool poller_is_neglected(struct poller *poller)
{
    return (atomic_load_explicit(&poller->requests, memory_order_relaxed) > 0 ||
            atomic_load_explicit(&poller->timers->count, memory_order_relaxed) > 0) &&
           !atomic_load_explicit(&poller->taken, memory_order_relaxed);
}

void poller_wait(struct poller *poller, bool block, struct poller_events *out)
{
    out->count = epoll_wait(poller->epoll_fd, out->items, ARRAY_SIZE(out->items), block ? -1 : 0);
}

void poller_handle(struct poller *poller, const struct poller_events *events)
{
    for (int i = 0; i < events->count; i++) {
        int fd = events->items[i].data.fd;
        if (fd != poller->event_fd && fd != poller->timers->timer_fd) {
            handle_event(poller, fd, events->items[i].events);
            continue;
        }
        uint64_t count;
        ssize_t n = read(fd, &count, sizeof count); /* only to make it unreadable again; it may be so already */
        (void)n;
        if (fd == poller->timers->timer_fd)
            timers_fire(poller->timers);
    }
}

void poller_interrupt(struct poller *poller)
{
    uint64_t one = 1;
    ssize_t n = write(poller->event_fd, &one, sizeof one); /* fails only when it is readable anyway */
    (void)n;
}

void poller_destroy(struct poller *poller)
{
    if (poller->event_fd >= 0)
        close(poller->event_fd);
    if (poller->epoll_fd >= 0)
        close(poller->epoll_fd);
    free(poller->descriptors);
    pthread_mutex_destroy(&poller->mutex);
}

/* Room for `fd` in the table. */
static kith_error *reserve(struct poller *poller, int fd)
{
    size_t needed = (size_t)fd + 1;
    if (needed <= poller->descriptor_count)
        return NULL;
    size_t count = MAX(needed, 2 * poller->descriptor_count);
    TRY(alloc_resize(&poller->descriptors, count, sizeof *poller->descriptors));
    memset(poller->descriptors + poller->descriptor_count, 0,
           (count - poller->descriptor_count) * sizeof *poller->descriptors);
    poller->descriptor_count = count;
    return NULL;
}

static kith_error *enter(struct poller *poller, int fd, struct io_request *request)
{
    TRY(reserve(poller, fd));
    struct io_descriptor *descriptor = &poller->descriptors[fd];
    if (((request->interests & IO_READABLE) != 0 && descriptor->reader != NULL) ||
        ((request->interests & IO_WRITABLE) != 0 && descriptor->writer != NULL))
        return error_new(KITH_ERROR_INTERNAL, "descriptor %d is waited for by two fibers at once", fd);
    if ((request->interests & IO_READABLE) != 0)
        descriptor->reader = request;
    if ((request->interests & IO_WRITABLE) != 0)
        descriptor->writer = request;
    int result = arm(poller, fd);
    if (result == EPERM)
        request->ready = request->interests;
    else if (result != 0)
        return error_from_errno(result, "waiting for descriptor %d", fd);
    return NULL;
}

/* What was delivered meanwhile is not lost: the next wait arms the descriptor anew and finds it ready again. */
static void leave(struct poller *poller, int fd, struct io_request *request)
{
    if ((size_t)fd >= poller->descriptor_count)
        return;
    struct io_descriptor *descriptor = &poller->descriptors[fd];
    if (descriptor->reader == request)
        descriptor->reader = NULL;
    if (descriptor->writer == request)
        descriptor->writer = NULL;
}

/* The same from a thread outside the runtime, which may block. */
static kith_error *thread_io_wait(int fd, unsigned interests, int64_t deadline_ns, unsigned *ready)
{
    short events =
        (short)(((interests & IO_READABLE) != 0 ? POLLIN : 0) | ((interests & IO_WRITABLE) != 0 ? POLLOUT : 0));
    struct pollfd polled = {.fd = fd, .events = events};
    int count;
    do {
        int64_t left = MAX(deadline_ns - clock_monotonic_ns(&system_clock), INT64_C(0));
        struct timespec timeout = {.tv_sec = left / NANOSECONDS_PER_SECOND, .tv_nsec = left % NANOSECONDS_PER_SECOND};
        count = ppoll(&polled, 1, deadline_ns < 0 ? NULL : &timeout, NULL);
    } while (count < 0 && errno == EINTR);
    if (count < 0)
        return error_from_errno(errno, "waiting for descriptor %d", fd);
    if (count == 0)
        return error_new(KITH_ERROR_TIMEOUT, "descriptor %d was not ready in time", fd);
    *ready = 0;
    if ((polled.revents & ~POLLOUT) != 0)
        *ready |= interests & IO_READABLE;
    if ((polled.revents & ~POLLIN) != 0)
        *ready |= interests & IO_WRITABLE;
    return NULL;
}

kith_error *io_wait(int fd, unsigned interests, int64_t deadline_ns, unsigned *ready)
{
    ASSERT(fd >= 0 && interests != 0);
    struct runtime *runtime = runtime_current();
    if (runtime == NULL)
        return thread_io_wait(fd, interests, deadline_ns, ready);
    TRY(cancel_token_check(fiber_cancel_token()));

    struct poller *poller = &runtime->poller;
    struct io_request request = {.interests = interests};
    HOLD_MUTEX(&poller->mutex);
    atomic_fetch_add(&poller->requests, 1);
    kith_error *error = enter(poller, fd, &request);
    while (error == NULL && request.ready == 0 && !request.forgotten)
        error = wait_list_wait(&request.waiting, &poller->mutex, deadline_ns);
    leave(poller, fd, &request);
    atomic_fetch_sub(&poller->requests, 1);
    if (error == NULL && request.forgotten)
        return error_new(KITH_ERROR_CANCELLED, "descriptor %d was closed while a fiber waited for it", fd);
    *ready = request.ready;
    return error;
}

void io_forget(int fd)
{
    struct runtime *runtime = runtime_current();
    if (runtime == NULL)
        return; /* closing it takes it out of epoll, and arm copes with that */
    struct poller *poller = &runtime->poller;
    HOLD_MUTEX(&poller->mutex);
    if (fd < 0 || (size_t)fd >= poller->descriptor_count)
        return;
    struct io_descriptor *descriptor = &poller->descriptors[fd];
    struct io_request *requests[] = {descriptor->reader, descriptor->writer};
    for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
        if (requests[i] == NULL)
            continue;
        requests[i]->forgotten = true;
        wait_list_wake_all(&requests[i]->waiting);
    }
    if (descriptor->registered)
        epoll_ctl(poller->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    *descriptor = (struct io_descriptor){0};
}
