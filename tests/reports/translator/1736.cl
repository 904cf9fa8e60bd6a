// SPIRV-LLVM-Translator 1736: a ballot, its count, and its lowest bit.
// needs: cl_khr_subgroup_ballot
// options: -cl-std=CL3.0
// range: 4 by 4
// in: int 5 -1 7 -1
// out: uint 4*5
// out: uint 4*2
// out: uint 0 1 1 2
// out: uint 4*0

kernel void test(global const int *in, global uint *ballots, global uint *counts, global uint *before, global uint *first)
{
    uint i = get_local_id(0);
    uint4 ballot = sub_group_ballot(in[i] > 0);
    ballots[i] = ballot.x;
    counts[i] = sub_group_ballot_bit_count(ballot);
    before[i] = sub_group_ballot_exclusive_scan(ballot);
    first[i] = sub_group_ballot_find_lsb(ballot);
}
