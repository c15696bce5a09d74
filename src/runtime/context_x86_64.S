/*
 * Context switch for x86-64, System V ABI: callee-saved are rbx, rbp, r12-r15, the control bits of mxcsr and the
 * x87 control word. The frame's shape is the same before and after the stack pointer changes, so one set of
 * CFI describes both stacks.
 */

    .text

/* void context_switch(void **save (rdi), void *load (rsi)) */
    .globl context_switch
    .hidden context_switch
    .type context_switch, @function
    .p2align 4
context_switch:
    .cfi_startproc
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbp, 0
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    pushq %r12
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r12, 0
    pushq %r13
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r13, 0
    pushq %r14
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r14, 0
    pushq %r15
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r15, 0
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    stmxcsr (%rsp)
    fnstcw 4(%rsp)

    movq %rsp, (%rdi)
    movq %rsi, %rsp

    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %r15
    .cfi_adjust_cfa_offset -8
    .cfi_restore r15
    popq %r14
    .cfi_adjust_cfa_offset -8
    .cfi_restore r14
    popq %r13
    .cfi_adjust_cfa_offset -8
    .cfi_restore r13
    popq %r12
    .cfi_adjust_cfa_offset -8
    .cfi_restore r12
    popq %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbx
    popq %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbp
    ret
    .cfi_endproc
    .size context_switch, . - context_switch

/* The outermost frame of a fiber: its return address is undefined, which is where a backtrace stops. */
    .globl context_start
    .hidden context_start
    .type context_start, @function
    .p2align 4
context_start:
    .cfi_startproc
    .cfi_undefined rip
    movq %r13, %rdi
    callq *%r12
    ud2
    .cfi_endproc
    .size context_start, . - context_start

    .section .note.GNU-stack, "", @progbits
