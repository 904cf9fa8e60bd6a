/* What becomes of a process that has work under way when it ends, unloads the library or forks. The first
 * argument says which; exit status 77 when there is no device. It needs no headers. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef struct handle *cl_handle;
typedef void event_notify(cl_handle, cl_int, void *);
typedef void program_notify(cl_handle, void *);

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

static cl_handle (*create_program)(cl_handle, cl_uint, const char **, const size_t *, cl_int *);
static cl_int (*build_program)(cl_handle, cl_uint, const cl_handle *, const char *, program_notify *, void *);
static cl_handle (*create_kernel)(cl_handle, const char *, cl_int *);
static cl_int (*release_memory)(cl_handle);
static cl_int (*release_context)(cl_handle);

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
static cl_handle device, context, queue, buffers[2];

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
    *(void **)&create_program = entry("clCreateProgramWithSource");
    *(void **)&build_program = entry("clBuildProgram");
    *(void **)&create_kernel = entry("clCreateKernel");
    *(void **)&release_memory = entry("clReleaseMemObject");
    *(void **)&release_context = entry("clReleaseContext");
    cl_handle platform;
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
        /* Streams are flushed at the end, whoever calls `_exit` there. */
        printf("child");
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

/* A program whose kernel's only pipeline is made by clCreateKernel; the build calls back where `notify` is given. */
static cl_handle build(program_notify *notify) {
    const char *source = "kernel __attribute__((reqd_work_group_size(7, 1, 1))) void k(global int *p) { *p = 1; }";
    cl_int code;
    cl_handle program = create_program(context, 1, &source, NULL, &code);
    CHECK(code == 0);
    CHECK(build_program(program, 1, &device, "", notify, NULL) == 0);
    return program;
}

static void make_kernel(cl_handle program, void *user_data) {
    (void)user_data;
    cl_int code;
    called++;
    create_kernel(program, "k", &code);
}

static void make_kernel_of(cl_handle event, cl_int status, void *program) {
    (void)event, (void)status;
    make_kernel(program, NULL);
}

static void exit_in_callback(cl_handle event, cl_int status, void *user_data) {
    (void)event, (void)status, (void)user_data;
    exit(0);
}

static void stay(cl_handle event, cl_int status, void *user_data) {
    (void)event, (void)status, (void)user_data;
    called++;
    for (;;)
        pause();
}

/* Has `notify` called on the thread for that. */
static void call_back(event_notify *notify, void *user_data) {
    cl_handle event;
    CHECK(fill(queue, buffers[0], "abcdefgh", 8, 0, 64, 0, NULL, &event) == 0);
    CHECK(on_event(event, 0, notify, user_data) == 0);
    CHECK(flush(queue) == 0);
}

static void await_call(void) {
    for (int i = 0; i < 3000 && !called; i++)
        usleep(10000);
    CHECK(called);
}

static struct timespec begun;

/* Registered first, so it runs last: nothing waited for a thread that does not come back. */
static void check_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - begun.tv_sec > 3) {
        fprintf(stderr, "the end took more than three seconds\n");
        _exit(6);
    }
}

/* As a destructor of a static object does. */
static void release_late(void) {
    if (!queue)
        return;
    char last[8];
    cl_int code;
    /* Whatever it says, it returns. */
    read_buffer(queue, buffers[1], 1, BYTES - 8, 8, last, 0, NULL, NULL);
    create_buffer(context, 1, BYTES, NULL, &code);
    for (int i = 0; i < 2; i++)
        if (release_memory(buffers[i]) != 0)
            _exit(7);
    if (release_queue(queue) != 0 || release_context(context) != 0)
        _exit(8);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    alarm(60);
    if (strcmp(argv[1], "late") == 0)
        CHECK(atexit(release_late) == 0);
    if (strncmp(argv[1], "callback-", 9) == 0 && strcmp(argv[1], "callback-works") != 0)
        CHECK(atexit(check_time) == 0);
    open_device(argv[2]);
    if (strcmp(argv[1], "build-works") == 0) {
        build(make_kernel);
        await_call();
        exit(0);
    }
    if (strcmp(argv[1], "callback-works") == 0) {
        call_back(make_kernel_of, build(NULL));
        await_call();
        exit(0);
    }
    clock_gettime(CLOCK_MONOTONIC, &begun);
    if (strcmp(argv[1], "callback-exits") == 0) {
        call_back(exit_in_callback, NULL);
        for (;;)
            pause();
    }
    if (strcmp(argv[1], "callback-stays") == 0) {
        call_back(stay, NULL);
        await_call();
        clock_gettime(CLOCK_MONOTONIC, &begun);
        exit(0);
    }
    begin_work();
    if (strcmp(argv[1], "late") == 0)
        exit(0);
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
