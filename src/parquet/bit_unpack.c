#include "parquet/bit_unpack.h"

#include "base/macros.h"

enum {
    BLOCK = 32,  /* values unpacked at once; 32 values of any width end at a byte */
    OVERREAD = 9 /* bytes past a block that may be loaded with its last values */
};

#if defined(__clang__)
#define UNROLL_BLOCK _Pragma("unroll")
#else
#define UNROLL_BLOCK _Pragma("GCC unroll 32")
#endif

/* Inlined with a constant width, all positions, shifts and masks are constants. Reads up to 8 bytes past the block. */
static inline __attribute__((always_inline)) void block32(const uint8_t *restrict in, unsigned width,
                                                          uint32_t *restrict out)
{
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    UNROLL_BLOCK
    for (unsigned i = 0; i < BLOCK; i++)
        out[i] = (uint32_t)((load_u64(in + i * width / 8) >> (i * width % 8)) & mask);
}

static inline __attribute__((always_inline)) void block64(const uint8_t *restrict in, unsigned width,
                                                          uint64_t *restrict out)
{
    const uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    UNROLL_BLOCK
    for (unsigned i = 0; i < BLOCK; i++) {
        unsigned shift = i * width % 8;
        uint64_t value = load_u64(in + i * width / 8) >> shift;
        if (shift + width > 64)
            value |= (uint64_t)in[i * width / 8 + 8] << (64 - shift);
        out[i] = value & mask;
    }
}

/* clang-format off */
#define WIDTHS_TO_32(X)                             \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)         \
    X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)   \
    X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) \
    X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) \
    X(32)
#define WIDTHS_ABOVE_32(X)                          \
    X(33) X(34) X(35) X(36) X(37) X(38) X(39) X(40) \
    X(41) X(42) X(43) X(44) X(45) X(46) X(47) X(48) \
    X(49) X(50) X(51) X(52) X(53) X(54) X(55) X(56) \
    X(57) X(58) X(59) X(60) X(61) X(62) X(63) X(64)
/* clang-format on */

/* `out` holds BLOCK values of the function's size. */
typedef void (*block_function)(const uint8_t *in, void *out);

#define DEFINE_BLOCK32(w)                                 \
    static void block32_##w(const uint8_t *in, void *out) \
    {                                                     \
        block32(in, w, out);                              \
    }
#define DEFINE_BLOCK64(w)                                 \
    static void block64_##w(const uint8_t *in, void *out) \
    {                                                     \
        block64(in, w, out);                              \
    }
WIDTHS_TO_32(DEFINE_BLOCK32)
WIDTHS_TO_32(DEFINE_BLOCK64)
WIDTHS_ABOVE_32(DEFINE_BLOCK64)

#define NAME_BLOCK32(w) block32_##w,
#define NAME_BLOCK64(w) block64_##w,
static const block_function blocks32[] = {WIDTHS_TO_32(NAME_BLOCK32)};
static const block_function blocks64[] = {WIDTHS_TO_32(NAME_BLOCK64) WIDTHS_ABOVE_32(NAME_BLOCK64)};

/* A block with what follows it, for values too close to `end` to be loaded in place. */
struct padded_block {
    uint8_t bytes[BLOCK * 8 + 16];
};

static const uint8_t *in_place_or_padded(struct padded_block *block, const uint8_t *in, const uint8_t *end,
                                         unsigned width)
{
    size_t left = (size_t)(end - in), size = (size_t)BLOCK * width / 8;
    if (left >= size + OVERREAD)
        return in;
    memset(block, 0, sizeof *block);
    memcpy(block->bytes, in, MIN(left, size));
    return block->bytes;
}

/* One value at any bit, for the few before the first whole byte. */
static uint64_t value_at(const uint8_t *in, const uint8_t *end, size_t bit, unsigned width)
{
    uint8_t bytes[16] = {0};
    const uint8_t *from = in + bit / 8;
    memcpy(bytes, from, MIN((size_t)(end - from), (size_t)9));
    unsigned shift = bit % 8;
    uint64_t value = load_u64(bytes) >> shift;
    if (shift + width > 64)
        value |= (uint64_t)bytes[8] << (64 - shift);
    return width == 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

/* Values from a byte's start. `size` is that of a value in `out`; constant where this is inlined. */
static inline __attribute__((always_inline)) void unpack_aligned(const uint8_t *in, const uint8_t *end, unsigned width,
                                                                 size_t count, block_function block, size_t size,
                                                                 uint8_t *out)
{
    size_t block_bytes = (size_t)BLOCK * width / 8;
    for (; count >= BLOCK && (size_t)(end - in) >= block_bytes + OVERREAD; count -= BLOCK) {
        block(in, out);
        in += block_bytes;
        out += BLOCK * size;
    }
    while (count > 0) {
        struct padded_block padded;
        union {
            uint32_t of32[BLOCK];
            uint64_t of64[BLOCK];
        } values;
        block(in_place_or_padded(&padded, in, end, width), &values);
        size_t taken = MIN(count, (size_t)BLOCK);
        memcpy(out, &values, taken * size);
        count -= taken;
        out += taken * size;
        if (count > 0)
            in += block_bytes;
    }
}

void bit_unpack32(const uint8_t *in, const uint8_t *end, size_t bit, unsigned width, size_t count, uint32_t *out)
{
    ASSERT(width <= 32);
    if (width == 0) {
        memset(out, 0, count * sizeof *out);
        return;
    }
    for (; bit % 8 != 0 && count > 0; bit += width, count--)
        *out++ = (uint32_t)value_at(in, end, bit, width);
    unpack_aligned(in + bit / 8, end, width, count, blocks32[width], sizeof *out, (uint8_t *)out);
}

void bit_unpack64(const uint8_t *in, const uint8_t *end, size_t bit, unsigned width, size_t count, uint64_t *out)
{
    ASSERT(width <= 64);
    if (width == 0) {
        memset(out, 0, count * sizeof *out);
        return;
    }
    for (; bit % 8 != 0 && count > 0; bit += width, count--)
        *out++ = value_at(in, end, bit, width);
    unpack_aligned(in + bit / 8, end, width, count, blocks64[width], sizeof *out, (uint8_t *)out);
}

bool varint_read(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t value = 0;
    const uint8_t *byte = *at;
    for (unsigned shift = 0; shift < 64; shift += 7, byte++) {
        if (byte == end)
            return false;
        uint64_t bits = *byte & 0x7f;
        if (shift == 63 && bits > 1)
            return false;
        value |= bits << shift;
        if ((*byte & 0x80) == 0) {
            *at = byte + 1;
            *out = value;
            return true;
        }
    }
    return false;
}
