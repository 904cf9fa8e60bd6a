/* The way into a program: the kernel, or the function that the host calls. It stands after each program. */
#ifdef __OPENCL_VERSION__
kernel void test(global const u32 *in, global u32 *out, global work_t *memory) {
#ifdef GROUPED
    const size_t unit = get_group_id(0);
#ifdef SPACE_LOCAL
    local work_t work[WORKS];
#else
    global work_t *work = memory + unit * WORKS;
#endif
#else
    const size_t unit = get_global_id(0);
#if defined(SPACE_PRIVATE)
    work_t work[WORKS];
#elif defined(SPACE_LOCAL)
    local work_t all[GROUP][WORKS];
    local work_t *work = all[get_local_id(0)];
#else
    global work_t *work = memory + unit * WORKS;
#endif
#endif
    program(in + unit * INPUTS, out + unit * OUTPUTS, work);
}
#else
const u32 work_bytes = (u32)(sizeof(work_t) * WORKS);
void host(const u32 *in, u32 *out, u32 units) {
    /* Several threads may run a program at a time. */
    static _Thread_local work_t work[WORKS];
    for (u32 unit = 0; unit < units; unit++) {
        memset(work, 0x5a, sizeof work);
        program(in + unit * INPUTS, out + unit * OUTPUTS, work);
    }
}
#endif
