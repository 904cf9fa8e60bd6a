#define GROUP 256
#define SOFTENING 0.01f

// The acceleration of each body (place and mass) by all others, a tile of which is in local memory at a time.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void accelerate(global const float4 *restrict bodies, uint count, global float4 *restrict accelerations)
{
    local float4 tile[GROUP];
    float4 own = bodies[get_global_id(0)];
    float3 sum = (float3)(0.0f);
    for (uint first = 0; first < count; first += GROUP) {
        tile[get_local_id(0)] = bodies[first + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < GROUP; j++) {
            float4 other = tile[j];
            float3 way = other.xyz - own.xyz;
            float inverse = rsqrt(dot(way, way) + SOFTENING);
            sum += way * (other.w * inverse * inverse * inverse);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    accelerations[get_global_id(0)] = (float4)(sum, 0.0f);
}
