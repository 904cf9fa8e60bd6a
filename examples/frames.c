/* A loop of frames: the same 100 small kernels for every frame, which differ by the frame's number only.
 *
 * First the kernels are enqueued one by one for each frame, as without an extension. Then they are recorded once
 * (cl_khr_command_buffer); each frame is an update of the number (cl_khr_command_buffer_mutable_dispatch) and one
 * call that enqueues everything. Both must end with the same contents.
 *
 *     cc examples/frames.c -lOpenCL -o frames && pumice run ./frames
 *
 * The extensions' functions and types are declared here: headers of distributions often have older signatures.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct command_buffer *command_buffer;
typedef struct mutable_command *mutable_command;
typedef cl_ulong property;
typedef cl_uint sync_point;

#define COMMAND_BUFFER_FLAGS 0x1293
#define COMMAND_BUFFER_MUTABLE (1 << 1)
#define MUTABLE_DISPATCH_UPDATABLE_FIELDS 0x12B1
#define MUTABLE_DISPATCH_ARGUMENTS (1 << 3)
#define STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG 0

typedef struct {
    cl_uint arg_index;
    size_t arg_size;
    const void *arg_value;
} mutable_argument;

typedef struct {
    mutable_command command;
    cl_uint num_args;
    cl_uint num_svm_args;
    cl_uint num_exec_infos;
    cl_uint work_dim;
    const mutable_argument *arg_list;
    const mutable_argument *arg_svm_list;
    const void *exec_info_list;
    const size_t *global_work_offset;
    const size_t *global_work_size;
    const size_t *local_work_size;
} mutable_config;

typedef command_buffer (CL_API_CALL *create_function)(cl_uint, const cl_command_queue *, const property *, cl_int *);
typedef cl_int (CL_API_CALL *record_function)(command_buffer, cl_command_queue, const property *, cl_kernel, cl_uint,
                                              const size_t *, const size_t *, const size_t *, cl_uint,
                                              const sync_point *, sync_point *, mutable_command *);
typedef cl_int (CL_API_CALL *finalize_function)(command_buffer);
typedef cl_int (CL_API_CALL *update_function)(command_buffer, cl_uint, const cl_uint *, const void **);
typedef cl_int (CL_API_CALL *enqueue_function)(cl_uint, cl_command_queue *, command_buffer, cl_uint, const cl_event *,
                                               cl_event *);

#define FRAMES 60
#define KERNELS 100
#define ITEMS 256

static const char *source =
    "kernel void step_one(global uint *cells, uint frame, uint turn) {\n"
    "    size_t i = get_global_id(0);\n"
    "    cells[i] = cells[i] * 1664525u + frame * 31u + turn;\n"
    "}\n";

static void check(cl_int error, const char *what) {
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: OpenCL error %d\n", what, error);
        exit(1);
    }
}

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void *function(cl_platform_id platform, const char *name) {
    void *address = clGetExtensionFunctionAddressForPlatform(platform, name);
    if (address == NULL) {
        fprintf(stderr, "the platform has no %s\n", name);
        exit(1);
    }
    return address;
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "step_one", &error);
    check(error, "clCreateKernel");

    create_function create = (create_function)function(platform, "clCreateCommandBufferKHR");
    record_function record = (record_function)function(platform, "clCommandNDRangeKernelKHR");
    finalize_function finalize = (finalize_function)function(platform, "clFinalizeCommandBufferKHR");
    update_function update = (update_function)function(platform, "clUpdateMutableCommandsKHR");
    enqueue_function enqueue = (enqueue_function)function(platform, "clEnqueueCommandBufferKHR");
    finalize_function release = (finalize_function)function(platform, "clReleaseCommandBufferKHR");

    static cl_uint results[2][ITEMS];
    cl_mem cells = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof results[0], NULL, &error);
    check(error, "clCreateBuffer");
    const cl_uint zero = 0;
    const size_t items = ITEMS;
    check(clSetKernelArg(kernel, 0, sizeof cells, &cells), "clSetKernelArg");

    /* One by one. */
    check(clEnqueueFillBuffer(queue, cells, &zero, sizeof zero, 0, sizeof results[0], 0, NULL, NULL), "fill");
    check(clFinish(queue), "clFinish");
    double host_us = 0, start = now_us();
    for (cl_uint frame = 0; frame < FRAMES; frame++) {
        double begin = now_us();
        check(clSetKernelArg(kernel, 1, sizeof frame, &frame), "clSetKernelArg");
        for (cl_uint turn = 0; turn < KERNELS; turn++) {
            check(clSetKernelArg(kernel, 2, sizeof turn, &turn), "clSetKernelArg");
            check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), "launch");
        }
        check(clFlush(queue), "clFlush");
        host_us += now_us() - begin;
        check(clFinish(queue), "clFinish");
    }
    printf("one by one:      %8.1f us a frame, %8.1f of them in calls that enqueue\n", (now_us() - start) / FRAMES,
           host_us / FRAMES);
    check(clEnqueueReadBuffer(queue, cells, CL_TRUE, 0, sizeof results[0], results[0], 0, NULL, NULL), "read");

    /* Recorded once. */
    const property flags[] = {COMMAND_BUFFER_FLAGS, COMMAND_BUFFER_MUTABLE, 0};
    command_buffer buffer = create(1, &queue, flags, &error);
    check(error, "clCreateCommandBufferKHR");
    static mutable_command commands[KERNELS];
    const property fields[] = {MUTABLE_DISPATCH_UPDATABLE_FIELDS, MUTABLE_DISPATCH_ARGUMENTS, 0};
    for (cl_uint turn = 0; turn < KERNELS; turn++) {
        check(clSetKernelArg(kernel, 2, sizeof turn, &turn), "clSetKernelArg");
        check(record(buffer, NULL, fields, kernel, 1, NULL, &items, NULL, 0, NULL, NULL, &commands[turn]),
              "clCommandNDRangeKernelKHR");
    }
    check(finalize(buffer), "clFinalizeCommandBufferKHR");

    /* Every update says the same of its command: the frame's number is argument 1. */
    cl_uint frame = 0;
    const mutable_argument argument = {1, sizeof frame, &frame};
    static mutable_config configs[KERNELS];
    static const void *pointers[KERNELS];
    static cl_uint types[KERNELS];
    for (int i = 0; i < KERNELS; i++) {
        memset(&configs[i], 0, sizeof configs[i]);
        configs[i].command = commands[i];
        configs[i].num_args = 1;
        configs[i].arg_list = &argument;
        pointers[i] = &configs[i];
        types[i] = STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG;
    }

    check(clEnqueueFillBuffer(queue, cells, &zero, sizeof zero, 0, sizeof results[0], 0, NULL, NULL), "fill");
    check(clFinish(queue), "clFinish");
    double update_us = 0;
    host_us = 0;
    start = now_us();
    for (frame = 0; frame < FRAMES; frame++) {
        double begin = now_us();
        check(update(buffer, KERNELS, types, pointers), "clUpdateMutableCommandsKHR");
        double updated = now_us();
        check(enqueue(0, NULL, buffer, 0, NULL, NULL), "clEnqueueCommandBufferKHR");
        check(clFlush(queue), "clFlush");
        update_us += updated - begin;
        host_us += now_us() - updated;
        check(clFinish(queue), "clFinish");
    }
    printf("command buffer:  %8.1f us a frame, %8.1f of them in calls that enqueue, %8.1f in updates\n",
           (now_us() - start) / FRAMES, host_us / FRAMES, update_us / FRAMES);
    check(clEnqueueReadBuffer(queue, cells, CL_TRUE, 0, sizeof results[1], results[1], 0, NULL, NULL), "read");

    check(release(buffer), "clReleaseCommandBufferKHR");
    clReleaseMemObject(cells);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    if (memcmp(results[0], results[1], sizeof results[0]) != 0) {
        fprintf(stderr, "the results differ\n");
        return 1;
    }
    puts("the results are the same");
    return 0;
}
