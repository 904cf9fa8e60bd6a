// clspv 11: bytes addressed by strides of a tensor, as halves and floats of a vector at a time.
// range: 2x2
// in: uchar 0 0 0 0 0 0 0x80 0x3f 0 0 0 0x40 0 0 0x40 0x40 0 0 0x80 0x40 0 0 0xa0 0x40 0 0 0xc0 0x40 0 0 0xe0 0x40
// value: uint 8
// value: uint 16
// value: uint 0
// inout: float 9*-1 -> float -1 0 2 4 6 8 10 12 14
// value: uint 8
// value: uint 16
// value: uint 4
typedef struct vector_image {
    global uchar *ptr;
    int offset;
    int stride_x, stride_y;
} image;

inline image updated(global uchar *ptr, uint offset, uint stride_x, uint stride_y)
{
    image img = { .ptr = ptr, .offset = offset, .stride_x = stride_x, .stride_y = stride_y };
    img.ptr += img.offset + get_global_id(0) * stride_x + get_global_id(1) * stride_y;
    return img;
}

inline global uchar *offset(const image *img, int x, int y)
{
    return img->ptr + x * img->stride_x + y * img->stride_y;
}

kernel void test(global uchar *src, uint src_x, uint src_y, uint src_offset, global uchar *dst, uint dst_x, uint dst_y, uint dst_offset)
{
    image in = updated(src, src_offset, src_x, src_y), out = updated(dst, dst_offset, dst_x, dst_y);
    float2 a = vload2(0, (global float *)in.ptr);
    // The left or right neighbour's, seen from where it is.
    float2 b = vload2(0, (global float *)offset(&in, get_global_id(0) ? -1 : 1, 0));
    vstore2(a + b + (a - b), 0, (global float *)out.ptr);
}
