// Copies and fills of rectangles of memory: rows and slices of bytes, taken as units of 4 to 16 bytes. All addresses,
// pitches and the width are multiples of the unit; where they aren't, there are kernels for bytes. All is chosen by
// src/runtime/rectangle.
//
// A work-group covers a tile. Its work-items lie in lines of 1 << log_lanes, so that narrow rectangles keep them busy
// as well; each moves STEPS units, one beside the other's lanes or one below. All loads come before the first
// store: that many are under way at once.

#define GROUP_SIZE 128
#define STEPS 4

typedef struct {
    ulong address;
    // Bytes.
    ulong row_pitch;
    ulong slice_pitch;
} Side;

typedef struct {
    // Units of a row (bytes where that is the unit), and rows.
    uint width;
    uint rows;
    uint log_lanes;
    // Whether the units of a work-item are in one row.
    uint along_row;
} Tiling;

typedef struct {
    Side target;
    Tiling tiling;
    Side source;
} Copy;

typedef struct {
    Side target;
    Tiling tiling;
    // Unit x of a row is value[x & 1].
    uint4 value[2];
} Fill;

// The first unit of a work-item, and how far it is to the next.
typedef struct {
    uint x, y, step_x, step_y;
} Place;

static inline Place place(Tiling tiling)
{
    uint item = get_local_id(0);
    uint lanes = 1u << tiling.log_lanes;
    uint lines = GROUP_SIZE >> tiling.log_lanes;
    uint columns = tiling.along_row ? STEPS * lanes : lanes;
    uint rows = tiling.along_row ? lines : STEPS * lines;
    Place place;
    place.x = (uint)get_group_id(0) * columns + (item & (lanes - 1));
    place.y = (uint)get_group_id(1) * rows + (item >> tiling.log_lanes);
    place.step_x = tiling.along_row ? lanes : 0;
    place.step_y = tiling.along_row ? 0 : lines;
    return place;
}

static inline ulong at(Side side, uint x, uint y, uint unit_bytes)
{
    return side.address + get_group_id(2) * side.slice_pitch + y * side.row_pitch + (ulong)x * unit_bytes;
}

#define KERNEL kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void
#define X(STEP) (here.x + STEP * here.step_x)
#define Y(STEP) (here.y + STEP * here.step_y)
#define IS_INSIDE(STEP) (X(STEP) < all.tiling.width && Y(STEP) < all.tiling.rows)
#define UNIT_OF(SIDE, STEP, UNIT) (*(global UNIT *)at(all.SIDE, X(STEP), Y(STEP), sizeof(UNIT)))

#define LOAD(STEP, UNIT) UNIT unit##STEP; if (IS_INSIDE(STEP)) unit##STEP = UNIT_OF(source, STEP, UNIT)
#define STORE(STEP, UNIT) if (IS_INSIDE(STEP)) UNIT_OF(target, STEP, UNIT) = unit##STEP

#define COPY(NAME, UNIT) \
    KERNEL NAME(Copy all) \
    { \
        Place here = place(all.tiling); \
        LOAD(0, UNIT); LOAD(1, UNIT); LOAD(2, UNIT); LOAD(3, UNIT); \
        STORE(0, UNIT); STORE(1, UNIT); STORE(2, UNIT); STORE(3, UNIT); \
    }

COPY(copy_4, uint)
COPY(copy_8, uint2)
COPY(copy_16, uint4)

#define FILL_UNIT(STEP, UNIT, PART) \
    if (IS_INSIDE(STEP)) UNIT_OF(target, STEP, UNIT) = X(STEP) & 1 ? all.value[1].PART : all.value[0].PART

#define FILL(NAME, UNIT, PART) \
    KERNEL NAME(Fill all) \
    { \
        Place here = place(all.tiling); \
        FILL_UNIT(0, UNIT, PART); FILL_UNIT(1, UNIT, PART); FILL_UNIT(2, UNIT, PART); FILL_UNIT(3, UNIT, PART); \
    }

FILL(fill_4, uint, x)
FILL(fill_8, uint2, xy)
FILL(fill_16, uint4, xyzw)

// Bytes. Where its row begins may be anywhere in a word: the units are the words of the target that the row has a part
// in, (width + 6) / 4 at most.

typedef struct {
    // Of the row and its end, and of the unit, in the target.
    ulong row, end, word;
} Word;

static inline Word word(Side target, Tiling tiling, uint x, uint y)
{
    Word word;
    word.row = at(target, 0, y, 1);
    word.end = y < tiling.rows ? word.row + tiling.width : 0;
    word.word = (word.row & ~3ul) + (ulong)x * 4;
    return word;
}

static inline bool is_whole(Word it)
{
    return it.row <= it.word && it.word + 4 <= it.end;
}

// The four bytes from an address on, of one word or two.
static inline uint word_at(ulong address)
{
    global const uint *words = (global const uint *)(address & ~3ul);
    uint shift = (uint)(address & 3) * 8;
    uint first = words[0];
    return shift == 0 ? first : first >> shift | words[1] << (32 - shift);
}

#define WORD(STEP) Word word##STEP = word(all.target, all.tiling, X(STEP), Y(STEP))
#define FROM(STEP, ADDRESS) (at(all.source, 0, Y(STEP), 1) + ((ADDRESS) - word##STEP.row))
#define LOAD_WORD(STEP) \
    WORD(STEP); \
    uint unit##STEP; \
    if (is_whole(word##STEP)) unit##STEP = word_at(FROM(STEP, word##STEP.word))
// For each byte that is the row's.
#define BYTES(STEP) \
    for (ulong byte = max(word##STEP.word, word##STEP.row); byte < min(word##STEP.word + 4, word##STEP.end); byte++)
#define STORE_WORD(STEP) \
    if (is_whole(word##STEP)) \
        *(global uint *)word##STEP.word = unit##STEP; \
    else \
        BYTES(STEP) *(global uchar *)byte = *(global const uchar *)FROM(STEP, byte)

KERNEL copy_bytes(Copy all)
{
    Place here = place(all.tiling);
    LOAD_WORD(0); LOAD_WORD(1); LOAD_WORD(2); LOAD_WORD(3);
    STORE_WORD(0); STORE_WORD(1); STORE_WORD(2); STORE_WORD(3);
}

// value[0].x is the first word of a row that begins with a word.
#define FILL_WORD(STEP) \
    WORD(STEP); \
    uint unit##STEP = rotate(all.value[0].x, (uint)(word##STEP.row & 3) * 8); \
    if (is_whole(word##STEP)) \
        *(global uint *)word##STEP.word = unit##STEP; \
    else \
        BYTES(STEP) *(global uchar *)byte = unit##STEP >> (uint)(byte & 3) * 8

KERNEL fill_bytes(Fill all)
{
    Place here = place(all.tiling);
    FILL_WORD(0); FILL_WORD(1); FILL_WORD(2); FILL_WORD(3);
}
