// OpenCL-CTS 1364: scans and reductions of a work-group over floats and doubles, with infinities and identities.
// options: -cl-std=CL3.0
// needs: __opencl_c_work_group_collective_functions cl_khr_fp64
// range: 5 by 5
// in: float 1.5 -2 inf 4 0.25
// out: float 5*inf
// out: float 5*-2
// out: float 0 1.5 -0.5 inf inf
// out: float inf 1.5 -2 -2 -2
// out: float -inf 1.5 1.5 inf inf
// out: float 1.5 -0.5 inf inf inf
// out: float 5*4
// in: double 1e10 -1e10 0.5 0.25 2
// out: double 5*2.75
// out: double 5*1e10
// out: double 1e10 -1e10 -1e10 -1e10 -1e10
// out: double -inf 1e10 1e10 1e10 1e10
kernel void test(global const float *in, global float *sum, global float *least, global float *before, global float *least_before,
    global float *most_before, global float *through, global float *third, global const double *d, global double *dsum,
    global double *dmost, global double *dleast, global double *dmost_before)
{
    size_t i = get_local_id(0);
    sum[i] = work_group_reduce_add(in[i]);
    least[i] = work_group_reduce_min(in[i]);
    before[i] = work_group_scan_exclusive_add(in[i]);
    least_before[i] = work_group_scan_exclusive_min(in[i]);
    most_before[i] = work_group_scan_exclusive_max(in[i]);
    through[i] = work_group_scan_inclusive_add(in[i]);
    third[i] = work_group_broadcast(in[i], 3);
    dsum[i] = work_group_reduce_add(d[i]);
    dmost[i] = work_group_reduce_max(d[i]);
    dleast[i] = work_group_scan_inclusive_min(d[i]);
    dmost_before[i] = work_group_scan_exclusive_max(d[i]);
}
