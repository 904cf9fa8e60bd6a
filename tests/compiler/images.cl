constant sampler_t LITERAL = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;

float4 through(read_only image2d_t image, sampler_t sampler, float2 at) {
    return read_imagef(image, sampler, at);
}

kernel void sample(read_only image2d_t flat, read_only image3d_t volume, read_only image2d_array_t layers,
                   read_only image1d_t line, read_only image1d_array_t lines, read_only image1d_buffer_t texels,
                   read_only image2d_depth_t depth, sampler_t sampler, global float4 *out) {
    float2 at = (float2)(get_global_id(0), get_global_id(1)) * 0.1f;
    float4 sum = through(flat, sampler, at) + through(flat, LITERAL, at);
    sum += read_imagef(volume, LITERAL, (float4)(at, 0.5f, 0.0f));
    sum += read_imagef(layers, sampler, (float4)(at, 1.0f, 0.0f));
    sum += read_imagef(lines, sampler, at);
    sum += convert_float4(read_imagei(line, sampler, (int)get_global_id(0)));
    sum += read_imagef(texels, (int)get_global_id(0));
    sum.x += read_imagef(depth, sampler, at);
    sum.y += get_image_width(flat) + get_image_height(layers) + get_image_depth(volume);
    sum.z += get_image_array_size(lines) + get_image_channel_order(flat) + get_image_channel_data_type(line);
    out[get_global_id(0)] = sum;
}

kernel void write(write_only image2d_t floats, write_only image3d_t volume, read_write image2d_t both,
                  write_only image1d_buffer_t texels, write_only image2d_array_t layers) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(floats, at, (float4)(0.5f));
    write_imageui(volume, (int4)(at, 1, 0), (uint4)(7));
    uint4 old = read_imageui(both, at);
    atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item);
    write_imageui(both, at, old + 1u);
    write_imagei(texels, at.x, (int4)(-1));
    write_imagef(layers, (int4)(at, 2, 0), (float4)(1.0f));
}
