kernel void copy(global const float4 *restrict source, global float4 *restrict target)
{
    size_t i = get_global_id(0);
    target[i] = source[i];
}
