// oclgrind: components assigned from components of the same vector in memory, in another order.
// inout: float 1 2 3 4 -> float 4 3 2 1
// inout: float 1 2 3 4 -> float 1 3 2 4
// inout: float 1 2 3 4 -> float 1 42 7 4
// inout: float 1 2 3 4 -> float 1 2 2 4
kernel void test(global float4 *a, global float4 *b, global float4 *c, global float4 *d)
{
    a->wzyx = *a;
    b->zy = b->yz;
    c->zy = (float2)(7.0f, 42.0f);
    d->z = d->y;
}
