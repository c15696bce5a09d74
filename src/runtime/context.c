#include "runtime/context.h"

#include <stdint.h>

/* Where a prepared stack begins: takes function and argument out of saved registers. In context_*.S. */
void context_start(void);

/* The frames below mirror, in memory order, what context_switch pops. */
#if defined(__x86_64__)

struct first_frame {
    uint32_t mxcsr;
    uint32_t x87_control;
    uintptr_t r15, r14, r13, r12, rbx, rbp;
    uintptr_t return_address;
};

static struct first_frame first_frame(void (*function)(void *), void *argument)
{
    return (struct first_frame){
        .mxcsr = 0x1F80,       /* all exceptions masked, round to nearest: the state the ABI starts a process in */
        .x87_control = 0x037F, /* likewise */
        .r12 = (uintptr_t)function,
        .r13 = (uintptr_t)argument,
        .return_address = (uintptr_t)context_start,
    };
}

#elif defined(__aarch64__)

struct first_frame {
    uintptr_t x19, x20;
    uintptr_t x21_to_x28[8];
    uintptr_t x29, x30;
    double d8_to_d15[8];
    uint64_t fpcr;
    uint64_t padding;
};

static struct first_frame first_frame(void (*function)(void *), void *argument)
{
    return (struct first_frame){
        .x19 = (uintptr_t)function,
        .x20 = (uintptr_t)argument,
        .x30 = (uintptr_t)context_start,
    };
}

#else
#error "no context switch for this processor: write context_<processor>.S and its first frame here"
#endif

void *context_prepare(void *top, void (*function)(void *argument), void *argument)
{
    /* Both ABIs want the stack pointer at a multiple of 16 when context_start makes its call. */
    uintptr_t aligned_top = (uintptr_t)top & ~(uintptr_t)15;
    struct first_frame *frame = (struct first_frame *)(aligned_top - 16) - 1;
    *frame = first_frame(function, argument);
    return frame;
}
