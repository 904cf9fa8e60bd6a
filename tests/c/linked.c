/* An OpenCL host program that links libpumice.so itself, without an ICD loader. It needs no headers: what it
 * uses is declared here. Exit status: 0 when all is right, 1 with a message when not, 77 when there is no device
 * (CL_PLATFORM_NOT_FOUND_KHR). */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef struct handle *cl_handle;
typedef intptr_t cl_properties;

cl_int clGetPlatformIDs(cl_uint, cl_handle *, cl_uint *);
cl_int clIcdGetPlatformIDsKHR(cl_uint, cl_handle *, cl_uint *);
cl_int clGetPlatformInfo(cl_handle, cl_uint, size_t, void *, size_t *);
cl_int clGetDeviceIDs(cl_handle, cl_ulong, cl_uint, cl_handle *, cl_uint *);
cl_int clGetDeviceInfo(cl_handle, cl_uint, size_t, void *, size_t *);
cl_int clCreateSubDevices(cl_handle, const cl_properties *, cl_uint, cl_handle *, cl_uint *);
cl_int clRetainDevice(cl_handle);
cl_int clReleaseDevice(cl_handle);
cl_int clGetDeviceAndHostTimer(cl_handle, cl_ulong *, cl_ulong *);
cl_int clGetHostTimer(cl_handle, cl_ulong *);
typedef void context_notify(const char *, const void *, size_t, void *);
typedef void context_destructor(cl_handle, void *);
cl_handle clCreateContext(const cl_properties *, cl_uint, const cl_handle *, context_notify *, void *, cl_int *);
cl_handle clCreateContextFromType(const cl_properties *, cl_ulong, context_notify *, void *, cl_int *);
cl_int clRetainContext(cl_handle);
cl_int clReleaseContext(cl_handle);
cl_int clGetContextInfo(cl_handle, cl_uint, size_t, void *, size_t *);
cl_int clSetContextDestructorCallback(cl_handle, context_destructor *, void *);
cl_int clGetSupportedImageFormats(cl_handle, cl_ulong, cl_uint, cl_uint, void *, cl_uint *);
cl_handle clCreateSampler(cl_handle, cl_uint, cl_uint, cl_uint, cl_int *);
cl_int clRetainSampler(cl_handle);
cl_int clReleaseSampler(cl_handle);
cl_int clReleaseMemObject(cl_handle);
cl_handle clCreatePipe(cl_handle, cl_ulong, cl_uint, cl_uint, const cl_properties *, cl_int *);
void *clSVMAlloc(cl_handle, cl_ulong, size_t, cl_uint);
void *clGetExtensionFunctionAddress(const char *);
void *clGetExtensionFunctionAddressForPlatform(cl_handle, const char *);
cl_int clFinish(cl_handle);
cl_int clReleaseEvent(cl_handle);
cl_int clReleaseKernel(cl_handle);
cl_int clReleaseProgram(cl_handle);

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
            return 1;                                                           \
        }                                                                       \
    } while (0)

static char destroyed[8];

static void on_destruction(cl_handle context, void *user_data) {
    size_t size;
    /* "... this context is no longer valid." */
    strcat(destroyed, clGetContextInfo(context, 0x1080, 0, NULL, &size) == -34 ? user_data : "!");
}

int main(void) {
    cl_handle platform = NULL, device = NULL, devices[16], context, other;
    cl_uint count = 0;
    cl_int code = 0;
    size_t size = 0;
    char text[256];

    /* Platforms */
    code = clGetPlatformIDs(1, &platform, &count);
    if (code == -1001) {
        CHECK(clIcdGetPlatformIDsKHR(1, &platform, &count) == -1001);
        CHECK(platform == NULL);
        return 77;
    }
    CHECK(code == 0 && count == 1 && platform != NULL);
    CHECK(clGetPlatformIDs(0, &platform, NULL) == -30);
    CHECK(clGetPlatformIDs(0, NULL, NULL) == -30);
    CHECK(clGetPlatformInfo(platform, 0x0902, sizeof text, text, &size) == 0);
    CHECK(strcmp(text, "Pumice") == 0 && size == strlen(text) + 1);
    CHECK(clGetPlatformInfo(platform, 0x0920, sizeof text, text, NULL) == 0);
    CHECK(strcmp(text, "PUMICE") == 0);
    CHECK(clGetPlatformInfo(platform, 0x0902, 3, text, NULL) == -30);
    CHECK(clGetPlatformInfo(platform, 0x4242, sizeof text, text, NULL) == -30);

    /* cl_khr_icd 2.0: the tag stands in the first slot of the dispatch table of every handle. */
    CHECK(**(intptr_t **)platform == 0x4F50454E434C3331);

    /* Devices */
    CHECK(clGetDeviceIDs(platform, 0xFFFFFFFF, 16, devices, &count) == 0 && count >= 1);
    device = devices[0];
    CHECK(**(intptr_t **)device == 0x4F50454E434C3331);
    CHECK(clGetDeviceIDs(platform, 1, 1, devices, NULL) == 0 && devices[0] == device);
    CHECK(clGetDeviceIDs(platform, 0, 1, devices, NULL) == -31);
    CHECK(clGetDeviceIDs(platform, 1 << 4, 1, devices, NULL) == -1);
    CHECK(clGetDeviceIDs(device, 0xFFFFFFFF, 1, devices, NULL) == -32);
    CHECK(clGetDeviceIDs(platform, 0xFFFFFFFF, 0, devices, NULL) == -30);
    CHECK(clGetDeviceInfo(device, 0x1031, sizeof other, &other, NULL) == 0 && other == platform);
    CHECK(clRetainDevice(device) == 0 && clReleaseDevice(device) == 0 && clReleaseDevice(device) == 0);
    cl_properties equally[] = {0x1086, 1, 0};
    CHECK(clCreateSubDevices(device, equally, 0, NULL, &count) == -30);
    cl_ulong first, second, host;
    CHECK(clGetDeviceAndHostTimer(device, &first, &host) == 0);
    CHECK(clGetHostTimer(device, &second) == 0 && second >= host);
    CHECK(clGetDeviceAndHostTimer(device, &second, &host) == 0 && second >= first);
    CHECK(clGetHostTimer(device, NULL) == -30);

    /* Wrong handles */
    char garbage[256] = {0};
    cl_handle wrong[] = {NULL, platform, (cl_handle)garbage, (cl_handle)1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(clGetDeviceInfo(wrong[i], 0x102B, sizeof text, text, NULL) == -33);
        CHECK(clRetainContext(wrong[i]) == -34);
        CHECK(clFinish(wrong[i]) == -36);
        CHECK(clReleaseMemObject(wrong[i]) == -38);
        CHECK(clRetainSampler(wrong[i]) == -41);
        CHECK(clReleaseProgram(wrong[i]) == -44);
        CHECK(clReleaseKernel(wrong[i]) == -48);
        CHECK(clReleaseEvent(wrong[i]) == -58);
    }

    /* Contexts */
    cl_properties properties[] = {0x1084, (cl_properties)platform, 0};
    context = clCreateContext(properties, 1, &device, NULL, NULL, &code);
    CHECK(context != NULL && code == 0);
    cl_properties returned[8];
    CHECK(clGetContextInfo(context, 0x1082, sizeof returned, returned, &size) == 0);
    CHECK(size == sizeof properties && memcmp(returned, properties, size) == 0);
    CHECK(clGetContextInfo(context, 0x1081, sizeof other, &other, &size) == 0);
    CHECK(other == device && size == sizeof other);
    CHECK(clSetContextDestructorCallback(context, NULL, NULL) == -30);
    CHECK(clSetContextDestructorCallback(context, on_destruction, "a") == 0);
    CHECK(clSetContextDestructorCallback(context, on_destruction, "b") == 0);
    CHECK(clRetainContext(context) == 0);
    CHECK(clGetContextInfo(context, 0x1080, sizeof count, &count, NULL) == 0 && count == 2);
    CHECK(clReleaseContext(context) == 0 && destroyed[0] == 0);
    CHECK(clReleaseContext(context) == 0 && strcmp(destroyed, "ba") == 0);
    CHECK(clReleaseContext(context) == -34);
    CHECK(clGetContextInfo(context, 0x1083, sizeof count, &count, NULL) == -34);

    CHECK(clCreateContext(NULL, 0, &device, NULL, NULL, &code) == NULL && code == -30);
    CHECK(clCreateContext(NULL, 1, NULL, NULL, NULL, &code) == NULL && code == -30);
    CHECK(clCreateContext(NULL, 1, &device, NULL, garbage, &code) == NULL && code == -30);
    CHECK(clCreateContext(NULL, 1, &platform, NULL, NULL, &code) == NULL && code == -33);
    cl_properties unknown[] = {0x4242, 1, 0};
    CHECK(clCreateContext(unknown, 1, &device, NULL, NULL, &code) == NULL && code == -64);
    cl_properties twice[] = {0x1085, 0, 0x1085, 0, 0};
    CHECK(clCreateContext(twice, 1, &device, NULL, NULL, &code) == NULL && code == -64);
    cl_properties nowhere[] = {0x1084, (cl_properties)garbage, 0};
    CHECK(clCreateContext(nowhere, 1, &device, NULL, NULL, &code) == NULL && code == -32);
    CHECK(clCreateContextFromType(NULL, 1 << 4, NULL, NULL, &code) == NULL && code == -1);
    CHECK(clCreateContextFromType(NULL, 0, NULL, NULL, &code) == NULL && code == -31);

    cl_handle pair[] = {device, device};
    context = clCreateContext(NULL, 2, pair, NULL, NULL, NULL);
    CHECK(context != NULL);
    CHECK(clGetContextInfo(context, 0x1083, sizeof count, &count, NULL) == 0 && count == 1);
    CHECK(clGetContextInfo(context, 0x1082, sizeof returned, returned, &size) == 0 && size == 0);

    /* What is not supported says so with the specification's code. */
    cl_uint has_images = 2;
    CHECK(clGetDeviceInfo(device, 0x1016, sizeof has_images, &has_images, NULL) == 0 && has_images < 2);
    count = 1;
    CHECK(clGetSupportedImageFormats(context, 1, 0x10F1, 0, NULL, &count) == 0 && (count > 0) == has_images);
    CHECK(clGetSupportedImageFormats(context, 1, 0x4242, 0, NULL, &count) == -30);
    cl_handle sampler = clCreateSampler(context, 0, 0x1130, 0x1140, &code);
    CHECK((sampler != NULL) == has_images && code == (has_images ? 0 : -59));
    CHECK(!has_images || clReleaseSampler(sampler) == 0);
    /* CL_DEVICE_PIPE_SUPPORT */
    cl_uint has_pipes = 2;
    CHECK(clGetDeviceInfo(device, 0x1071, sizeof has_pipes, &has_pipes, NULL) == 0 && has_pipes < 2);
    cl_handle pipe = clCreatePipe(context, 0, 4, 4, NULL, &code);
    CHECK((pipe != NULL) == has_pipes && code == (has_pipes ? 0 : -59));
    CHECK(!has_pipes || clReleaseMemObject(pipe) == 0);
    CHECK(clCreatePipe(context, 0, 0, 4, NULL, &code) == NULL && code == (has_pipes ? -69 : -59));
    CHECK(clSVMAlloc(context, 1 << 30, 64, 0) == NULL);
    CHECK(clReleaseContext(context) == 0);

    /* Look-up by name */
    CHECK(clGetExtensionFunctionAddress("clIcdGetPlatformIDsKHR") != NULL);
    CHECK(clGetExtensionFunctionAddress("clIcdSetPlatformDispatchDataKHR") != NULL);
    CHECK(clGetExtensionFunctionAddress("clNoSuchFunction") == NULL);
    CHECK(clGetExtensionFunctionAddressForPlatform(platform, "clCreateCommandQueueWithPropertiesKHR") != NULL);
    CHECK(clGetExtensionFunctionAddressForPlatform(device, "clCreateCommandQueueWithPropertiesKHR") == NULL);
    return 0;
}
