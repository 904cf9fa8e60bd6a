/* What becomes of a process that has work under way when it ends, unloads the library or forks. The first
 * argument says which; exit status 77 when there is no device. It needs no headers. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef struct handle *cl_handle;
typedef void event_notify(cl_handle, cl_int, void *);

static cl_int (*get_platforms)(cl_uint, cl_handle *, cl_uint *);
static cl_int (*get_devices)(cl_handle, cl_ulong, cl_uint, cl_handle *, cl_uint *);
static cl_handle (*create_context)(const void *, cl_uint, const cl_handle *, void *, void *, cl_int *);
static cl_handle (*create_queue)(cl_handle, cl_handle, cl_ulong, cl_int *);
static cl_handle (*create_buffer)(cl_handle, cl_ulong, size_t, void *, cl_int *);
static cl_int (*fill)(cl_handle, cl_handle, const void *, size_t, size_t, size_t, cl_uint, const cl_handle *,
                      cl_handle *);
static cl_int (*copy)(cl_handle, cl_handle, cl_handle, size_t, size_t, size_t, cl_uint, const cl_handle *,
                      cl_handle *);
static cl_int (*on_event)(cl_handle, cl_int, event_notify *, void *);
static cl_handle (*create_user_event)(cl_handle, cl_int *);
static cl_int (*flush)(cl_handle);
static cl_int (*finish)(cl_handle);
static cl_int (*release_queue)(cl_handle);
static cl_int (*read_buffer)(cl_handle, cl_handle, cl_uint, size_t, size_t, void *, cl_uint, const cl_handle *,
                             cl_handle *);

static void *library;

static void *entry(const char *name) {
    void *function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return function;
}

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

static volatile int called;

static void count(cl_handle event, cl_int status, void *user_data) {
    (void)event, (void)status, (void)user_data;
    called++;
}

enum { BYTES = 64 << 20 };
static cl_handle context, queue, buffers[2];

/* Copies that take the device a while, callbacks for their ends, and commands that never get to run. */
static void begin_work(void) {
    for (int i = 0; i < 20; i++) {
        cl_handle event;
        CHECK(fill(queue, buffers[0], "abcdefgh", 8, 0, BYTES, 0, NULL, NULL) == 0);
        CHECK(copy(queue, buffers[0], buffers[1], 0, 0, BYTES, 0, NULL, &event) == 0);
        CHECK(on_event(event, 0, count, NULL) == 0);
    }
    CHECK(flush(queue) == 0);
}

static void open_device(const char *path) {
    library = dlopen(path, RTLD_NOW);
    CHECK(library);
    *(void **)&get_platforms = entry("clGetPlatformIDs");
    *(void **)&get_devices = entry("clGetDeviceIDs");
    *(void **)&create_context = entry("clCreateContext");
    *(void **)&create_queue = entry("clCreateCommandQueue");
    *(void **)&create_buffer = entry("clCreateBuffer");
    *(void **)&fill = entry("clEnqueueFillBuffer");
    *(void **)&copy = entry("clEnqueueCopyBuffer");
    *(void **)&on_event = entry("clSetEventCallback");
    *(void **)&create_user_event = entry("clCreateUserEvent");
    *(void **)&flush = entry("clFlush");
    *(void **)&finish = entry("clFinish");
    *(void **)&release_queue = entry("clReleaseCommandQueue");
    *(void **)&read_buffer = entry("clEnqueueReadBuffer");
    cl_handle platform, device;
    cl_int code;
    if (get_platforms(1, &platform, NULL) != 0 || get_devices(platform, 0xFFFFFFFF, 1, &device, NULL) != 0)
        exit(77);
    context = create_context(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code == 0);
    queue = create_queue(context, device, 0, &code);
    CHECK(code == 0);
    for (int i = 0; i < 2; i++) {
        buffers[i] = create_buffer(context, 1, BYTES, NULL, &code);
        CHECK(code == 0);
    }
}

static void fork_and_go_on(void) {
    cl_int code;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        /* Nothing of the parent's works here, but nothing hangs or crashes, and destructors may run. */
        if (finish(queue) == 0 || fill(queue, buffers[0], "x", 1, 0, BYTES, 0, NULL, NULL) == 0)
            _exit(3);
        if (create_user_event(context, &code) || code >= 0 || release_queue(queue) != 0)
            _exit(4);
        exit(5);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    char last[8];
    CHECK(read_buffer(queue, buffers[1], 1, BYTES - 8, 8, last, 0, NULL, NULL) == 0);
    CHECK(memcmp(last, "abcdefgh", 8) == 0);
    CHECK(finish(queue) == 0);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    alarm(60);
    open_device(argv[2]);
    begin_work();
    if (strcmp(argv[1], "exit") == 0) {
        /* Held for ever. */
        cl_int code;
        cl_handle never = create_user_event(context, &code);
        CHECK(copy(queue, buffers[0], buffers[1], 0, 0, BYTES, 1, &never, NULL) == 0);
        exit(0);
    }
    if (strcmp(argv[1], "unload") == 0) {
        CHECK(dlclose(library) == 0);
        for (int i = 0; i < 200 && called < 20; i++)
            usleep(50000);
        CHECK(called == 20);
        exit(0);
    }
    if (strcmp(argv[1], "fork") == 0) {
        fork_and_go_on();
        exit(0);
    }
    return 2;
}
