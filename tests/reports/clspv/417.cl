// clspv 417: a walk through local memory, sixteen steps a time, from where each work-item begins.
// range: 64 by 32
// value: int 512
// in: float 256*1 256*2
// out: float 32*9600 32*19200
kernel void test(int size, global const float *data, global float *out)
{
    local float buffer[256];
    int tid = get_local_id(0), count = 256 / get_local_size(0), j = 0;
    int from = 256 * get_group_id(0) + tid * count;
    int s = tid;
    float sum = 0;
    for (; j < count && j < size - from; ++j)
        buffer[tid * count + j] = data[from + j];
    for (int i = 0; j < count; ++j, ++i)
        buffer[tid * count + j] = data[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (j = 0; j < 600; ++j) {
        float a[16];
        for (int k = 0; k < 16; ++k)
            a[k] = buffer[(s + k) & 255];
        for (int k = 0; k < 16; ++k)
            sum += a[k];
        s = (s + 16) & 255;
    }
    out[get_global_id(0)] = sum;
}
