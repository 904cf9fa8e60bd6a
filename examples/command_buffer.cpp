// The sample program of the cl_khr_command_buffer document: adds two frames tile by tile, with one command buffer
// that is replayed for every frame. Corrected where the document's text does not compile (missing parentheses and
// arguments, misspelt names) or asks what the extension alone does not allow (queues passed to the recording
// functions), and with a check of the results.
//
//   c++ -std=c++17 examples/command_buffer.cpp -lOpenCL -o command_buffer && ./command_buffer
//
// The extension's functions and types are declared here: headers of distributions often have older signatures.

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <vector>

// Status when there is nothing to run on.
constexpr int no_device = 77;

#define CL_CHECK(ERROR)                                                                                            \
  if (cl_int code_ = (ERROR)) {                                                                                    \
    std::cerr << "OpenCL error: " << code_ << " in line " << __LINE__ << "\n";                                     \
    return code_;                                                                                                  \
  }

namespace khr {
using command_buffer = struct command_buffer_object *;
using mutable_command = struct mutable_command_object *;
using sync_point = cl_uint;
using properties = cl_ulong;

using create_command_buffer = command_buffer(CL_API_CALL *)(cl_uint, const cl_command_queue *, const properties *,
                                                            cl_int *);
using release_command_buffer = cl_int(CL_API_CALL *)(command_buffer);
using finalize_command_buffer = cl_int(CL_API_CALL *)(command_buffer);
using enqueue_command_buffer = cl_int(CL_API_CALL *)(cl_uint, cl_command_queue *, command_buffer, cl_uint,
                                                     const cl_event *, cl_event *);
using command_copy_buffer = cl_int(CL_API_CALL *)(command_buffer, cl_command_queue, const properties *, cl_mem,
                                                  cl_mem, size_t, size_t, size_t, cl_uint, const sync_point *,
                                                  sync_point *, mutable_command *);
using command_nd_range_kernel = cl_int(CL_API_CALL *)(command_buffer, cl_command_queue, const properties *,
                                                      cl_kernel, cl_uint, const size_t *, const size_t *,
                                                      const size_t *, cl_uint, const sync_point *, sync_point *,
                                                      mutable_command *);
} // namespace khr

int main() {
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) {
    return no_device;
  }
  cl_device_id device;
  CL_CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));

#define FIND(TYPE, NAME)                                                                                           \
  const auto NAME = reinterpret_cast<khr::TYPE>(clGetExtensionFunctionAddressForPlatform(platform, #NAME));        \
  if (NAME == nullptr) {                                                                                           \
    std::cerr << #NAME " is missing\n";                                                                            \
    return no_device;                                                                                              \
  }
  FIND(create_command_buffer, clCreateCommandBufferKHR)
  FIND(release_command_buffer, clReleaseCommandBufferKHR)
  FIND(finalize_command_buffer, clFinalizeCommandBufferKHR)
  FIND(enqueue_command_buffer, clEnqueueCommandBufferKHR)
  FIND(command_copy_buffer, clCommandCopyBufferKHR)
  FIND(command_nd_range_kernel, clCommandNDRangeKernelKHR)

  cl_int error;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  CL_CHECK(error);

  const char *code = R"OpenCLC(
  kernel void vector_addition(global int* tile1, global int* tile2,
                              global int* res) {
    size_t index = get_global_id(0);
    res[index] = tile1[index] + tile2[index];
  }
  )OpenCLC";
  const size_t length = std::strlen(code);

  cl_program program = clCreateProgramWithSource(context, 1, &code, &length, &error);
  CL_CHECK(error);

  CL_CHECK(clBuildProgram(program, 1, &device, nullptr, nullptr, nullptr));

  cl_kernel kernel = clCreateKernel(program, "vector_addition", &error);
  CL_CHECK(error);

  constexpr size_t frame_count = 60;
  constexpr size_t frame_elements = 1024;
  constexpr size_t frame_size = frame_elements * sizeof(cl_int);

  constexpr size_t tile_count = 16;
  constexpr size_t tile_elements = frame_elements / tile_count;
  constexpr size_t tile_size = tile_elements * sizeof(cl_int);

  cl_mem buffer_tile1 = clCreateBuffer(context, CL_MEM_READ_ONLY, tile_size, nullptr, &error);
  CL_CHECK(error);
  cl_mem buffer_tile2 = clCreateBuffer(context, CL_MEM_READ_ONLY, tile_size, nullptr, &error);
  CL_CHECK(error);
  cl_mem buffer_res = clCreateBuffer(context, CL_MEM_WRITE_ONLY, tile_size, nullptr, &error);
  CL_CHECK(error);

  CL_CHECK(clSetKernelArg(kernel, 0, sizeof(buffer_tile1), &buffer_tile1));
  CL_CHECK(clSetKernelArg(kernel, 1, sizeof(buffer_tile2), &buffer_tile2));
  CL_CHECK(clSetKernelArg(kernel, 2, sizeof(buffer_res), &buffer_res));

  const cl_queue_properties queue_properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  cl_command_queue command_queue = clCreateCommandQueueWithProperties(context, device, queue_properties, &error);
  CL_CHECK(error);

  khr::command_buffer command_buffer = clCreateCommandBufferKHR(1, &command_queue, nullptr, &error);
  CL_CHECK(error);

  cl_mem buffer_src1 = clCreateBuffer(context, CL_MEM_READ_ONLY, frame_size, nullptr, &error);
  CL_CHECK(error);
  cl_mem buffer_src2 = clCreateBuffer(context, CL_MEM_READ_ONLY, frame_size, nullptr, &error);
  CL_CHECK(error);
  cl_mem buffer_dst = clCreateBuffer(context, CL_MEM_READ_WRITE, frame_size, nullptr, &error);
  CL_CHECK(error);

  khr::sync_point tile_sync_point = 0;
  for (size_t tile_index = 0; tile_index < tile_count; tile_index++) {
    // The tile buffers are free again when the tile before has been copied away.
    const cl_uint waits = tile_index > 0 ? 1 : 0;
    const khr::sync_point *wait_list = tile_index > 0 ? &tile_sync_point : nullptr;
    std::array<khr::sync_point, 2> copy_sync_points;
    CL_CHECK(clCommandCopyBufferKHR(command_buffer, nullptr, nullptr, buffer_src1, buffer_tile1,
                                    tile_index * tile_size, 0, tile_size, waits, wait_list, &copy_sync_points[0],
                                    nullptr));
    CL_CHECK(clCommandCopyBufferKHR(command_buffer, nullptr, nullptr, buffer_src2, buffer_tile2,
                                    tile_index * tile_size, 0, tile_size, waits, wait_list, &copy_sync_points[1],
                                    nullptr));

    khr::sync_point nd_sync_point;
    CL_CHECK(clCommandNDRangeKernelKHR(command_buffer, nullptr, nullptr, kernel, 1, nullptr, &tile_elements,
                                       nullptr, copy_sync_points.size(), copy_sync_points.data(), &nd_sync_point,
                                       nullptr));

    CL_CHECK(clCommandCopyBufferKHR(command_buffer, nullptr, nullptr, buffer_res, buffer_dst, 0,
                                    tile_index * tile_size, tile_size, 1, &nd_sync_point, &tile_sync_point,
                                    nullptr));
  }

  CL_CHECK(clFinalizeCommandBufferKHR(command_buffer));

  std::random_device random_device;
  std::mt19937 random_engine{random_device()};
  std::uniform_int_distribution<cl_int> random_distribution{0, std::numeric_limits<cl_int>::max() / 2};
  auto random_generator = [&]() { return random_distribution(random_engine); };

  for (size_t frame_index = 0; frame_index < frame_count; frame_index++) {
    std::array<cl_event, 2> write_src_events;
    std::vector<cl_int> src1(frame_elements);
    std::generate(src1.begin(), src1.end(), random_generator);
    CL_CHECK(clEnqueueWriteBuffer(command_queue, buffer_src1, CL_FALSE, 0, frame_size, src1.data(), 0, nullptr,
                                  &write_src_events[0]));
    std::vector<cl_int> src2(frame_elements);
    std::generate(src2.begin(), src2.end(), random_generator);
    CL_CHECK(clEnqueueWriteBuffer(command_queue, buffer_src2, CL_FALSE, 0, frame_size, src2.data(), 0, nullptr,
                                  &write_src_events[1]));

    CL_CHECK(clEnqueueCommandBufferKHR(0, nullptr, command_buffer, 2, write_src_events.data(), nullptr));

    CL_CHECK(clFinish(command_queue));

    std::vector<cl_int> dst(frame_elements);
    CL_CHECK(clEnqueueReadBuffer(command_queue, buffer_dst, CL_TRUE, 0, frame_size, dst.data(), 0, nullptr,
                                 nullptr));
    for (size_t index = 0; index < frame_elements; index++) {
      if (dst[index] != src1[index] + src2[index]) {
        std::cerr << "frame " << frame_index << ", element " << index << ": " << dst[index] << "\n";
        return 1;
      }
    }

    CL_CHECK(clReleaseEvent(write_src_events[0]));
    CL_CHECK(clReleaseEvent(write_src_events[1]));
  }

  CL_CHECK(clReleaseCommandBufferKHR(command_buffer));
  CL_CHECK(clReleaseCommandQueue(command_queue));

  CL_CHECK(clReleaseMemObject(buffer_src1));
  CL_CHECK(clReleaseMemObject(buffer_src2));
  CL_CHECK(clReleaseMemObject(buffer_dst));

  CL_CHECK(clReleaseMemObject(buffer_tile1));
  CL_CHECK(clReleaseMemObject(buffer_tile2));
  CL_CHECK(clReleaseMemObject(buffer_res));

  CL_CHECK(clReleaseKernel(kernel));
  CL_CHECK(clReleaseProgram(program));
  CL_CHECK(clReleaseContext(context));

  std::cout << frame_count << " frames are right\n";
  return 0;
}
