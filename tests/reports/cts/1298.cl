// OpenCL-CTS 1298: copies between global and local memory, strided and not, one behind the other in one event.
// range: 8 by 4
// in: ushort 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
// out: ushort 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
// inout: ushort 16*99 -> ushort 0 99 3 99 6 99 9 99 12 99 15 99 18 99 21 99
kernel void test(global const ushort *in, global ushort *all, global ushort *every)
{
    local ushort data[12], some[4];
    size_t group = get_group_id(0), size = get_local_size(0);
    event_t event = async_work_group_copy(data, in + 3 * size * group, 3 * size, 0);
    event = async_work_group_strided_copy(some, in + 3 * size * group, size, 3, event);
    wait_group_events(1, &event);
    event_t events[2];
    events[0] = async_work_group_copy(all + 3 * size * group, data, 3 * size, 0);
    events[1] = async_work_group_strided_copy(every + 2 * size * group, some, size, 2, 0);
    wait_group_events(2, events);
}
