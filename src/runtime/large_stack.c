#include "runtime/large_stack.h"

#include "runtime/context.h"
#include "runtime/fiber_annotations.h"
#include "runtime/scheduler.h"

#include <sys/mman.h>

/* What stays in memory of a kept stack, at its top: an ordinary call needs no more, a deep one's is given back. */
enum { KEPT_BYTES = 256 << 10 };

struct call {
    kith_error *(*function)(void *argument);
    void *argument;
    kith_error *error;
    void *stack_pointer; /* of the large stack, once left */
    void *caller_stack_pointer;
    struct annotation annotation, caller_annotation;
};

static void run(void *argument)
{
    struct call *call = argument;
    annotation_after_switch(&call->annotation, &call->caller_annotation);
    call->error = call->function(call->argument);
    annotation_before_switch(&call->annotation, 1, &call->caller_annotation);
    context_switch(&call->stack_pointer, call->caller_stack_pointer);
    UNREACHABLE();
}

static kith_error *call_on(const struct stack *stack, kith_error *(*function)(void *), void *argument)
{
    struct call call = {.function = function, .argument = argument};
    void *start = context_prepare((char *)stack->bottom + stack->size, run, &call);
    annotation_init_thread(&call.caller_annotation);
    annotation_init_fiber(&call.annotation, stack->bottom, stack->size);
    annotation_before_switch(&call.caller_annotation, 0, &call.annotation);
    context_switch(&call.caller_stack_pointer, start);
    annotation_after_switch(&call.caller_annotation, &call.annotation);
    /* Of the frames, the outermost alone has not returned. */
    call.annotation.stack_bottom = (char *)stack->bottom + stack->size - KEPT_BYTES;
    call.annotation.stack_size = KEPT_BYTES;
    annotation_destroy_fiber(&call.annotation);
    return call.error;
}

kith_error *call_on_large_stack(kith_error *(*function)(void *argument), void *argument)
{
    struct runtime *runtime = runtime_current();
    struct stack stack;
    if (runtime == NULL) {
        TRY(stack_map(LARGE_STACK_BYTES, &stack));
        kith_error *error = call_on(&stack, function, argument);
        stack_unmap(stack);
        return error;
    }
    TRY(stack_pool_take(&runtime->large_stacks, &stack));
    kith_error *error = call_on(&stack, function, argument);
    madvise(stack.bottom, stack.size - KEPT_BYTES, MADV_DONTNEED); /* fails on no stack */
    stack_pool_give(&runtime->large_stacks, stack);
    return error;
}
