//! What is left of collectives on devices of several kinds. What they compute is tested on devices
//! (`tests/kernels/groups.rs`).

use super::*;
use crate::compiler::capabilities::SubgroupOperations;
use crate::compiler::ir::{Binary, Builder, Group, GroupOp, Terminator};
use crate::compiler::passes::helpers::testing;
use crate::compiler::verify::{self, Stage};
use smallvec::smallvec;

/// The module of a kernel with one collective on an undefined value.
fn lowered(op: GroupOp, scope: Scope, ty: Type, device: &Capabilities) -> Module {
    let mut function = Function::new("k");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let value = b.undef(ty);
    let index = b.undef(Type::I32);
    let (values, result): (Values, Type) = match op {
        GroupOp::Shuffle | GroupOp::Rotate(_) => (smallvec![value, index], ty),
        GroupOp::AllEqual | GroupOp::All => (smallvec![value], Type::Bool),
        _ => (smallvec![value], ty),
    };
    let result = b.op1(Op::Group(Group { op, scope }, values), result);
    b.terminate(Terminator::Return(smallvec![result]));
    let ty = function.ty(result);
    function.return_types.push(ty);
    let mut module = testing::module_of(function);
    testing::run_on(&mut module, device, run).unwrap();
    if let Err(errors) = verify::module(&module, Stage::BuiltinsLowered) {
        panic!("{errors:?}\n{module}");
    }
    module
}

/// The collectives in a module, with the types of their first results.
fn left(module: &Module) -> Vec<(Group, Type)> {
    let function = &module.functions[0];
    let insts = function
        .layout()
        .iter()
        .flat_map(|&b| &function.block(b).insts);
    insts
        .filter_map(|&inst| {
            let data = function.inst(inst);
            match data.op {
                Op::Group(group, _) => Some((group, function.ty(data.results[0]))),
                _ => None,
            }
        })
        .collect()
}

fn without(change: impl FnOnce(&mut SubgroupOperations)) -> Capabilities {
    let mut device = Capabilities::full();
    change(&mut device.subgroup);
    device
}

const OPS: [GroupOp; 7] = [
    GroupOp::Reduce(Binary::Add),
    GroupOp::InclusiveScan(Binary::SMin),
    GroupOp::ExclusiveScan(Binary::UMax),
    GroupOp::ClusteredReduce(Binary::Add, 4),
    GroupOp::Shuffle,
    GroupOp::Rotate(0),
    GroupOp::AllEqual,
];

#[test]
fn what_the_device_has_stays() {
    let full = Capabilities::full();
    for op in OPS.into_iter().filter(|op| *op != GroupOp::AllEqual) {
        let module = lowered(op, Scope::Subgroup, Type::I64, &full);
        let groups = left(&module);
        assert_eq!(groups.len(), 1, "{op:?}");
        assert_eq!(groups[0].0.op, op);
        assert!(module.kernels[0].linear_groups);
    }
}

#[test]
fn narrow_and_wide_types_go_as_words_where_the_device_takes_no_others() {
    let device = without(|ops| ops.extended_types = false);
    for ty in [Type::I8, Type::I16, Type::I64, Type::F16] {
        for op in OPS {
            let float = match op {
                GroupOp::ExclusiveScan(_) => GroupOp::ExclusiveScan(Binary::FMax),
                GroupOp::InclusiveScan(_) => GroupOp::InclusiveScan(Binary::FMin),
                GroupOp::Reduce(_) => GroupOp::Reduce(Binary::FAdd),
                GroupOp::ClusteredReduce(_, size) => GroupOp::ClusteredReduce(Binary::FAdd, size),
                other => other,
            };
            let op = if ty.is_float() { float } else { op };
            for (group, ty) in left(&lowered(op, Scope::Subgroup, ty, &device)) {
                assert!(
                    matches!(ty, Type::I32 | Type::F32 | Type::Bool),
                    "{group:?} on {ty}"
                );
            }
        }
    }
}

#[test]
fn clusters_and_rotations_are_built_from_shuffles() {
    let device = without(|ops| (ops.clustered, ops.rotate) = (false, false));
    for op in [GroupOp::ClusteredReduce(Binary::Add, 4), GroupOp::Rotate(4)] {
        let groups = left(&lowered(op, Scope::Subgroup, Type::I32, &device));
        assert!(!groups.is_empty());
        for (group, _) in groups {
            assert!(
                matches!(group.op, GroupOp::Shuffle | GroupOp::Ballot),
                "{group:?}"
            );
        }
    }
    // One cluster is the whole sub-group.
    let op = GroupOp::ClusteredReduce(Binary::Add, 64);
    let groups = left(&lowered(op, Scope::Subgroup, Type::I32, &device));
    assert_eq!(groups[0].0.op, GroupOp::Reduce(Binary::Add));
    let op = GroupOp::ClusteredReduce(Binary::Add, 1);
    assert!(left(&lowered(op, Scope::Subgroup, Type::I32, &device)).is_empty());
}

#[test]
fn a_large_sub_group_has_a_mask_of_several_words() {
    for (size, cluster) in [(64, 32), (64, 8), (128, 64)] {
        let mut device = without(|ops| ops.clustered = false);
        device.subgroup_size = size;
        let op = GroupOp::ClusteredReduce(Binary::FMin, cluster);
        let groups = left(&lowered(op, Scope::Subgroup, Type::F32, &device));
        let shuffles = groups.iter().filter(|(g, _)| g.op == GroupOp::Shuffle);
        // Value and place in each step, and the result.
        assert_eq!(shuffles.count() as u32, 2 * cluster.ilog2() + 1);
    }
}

/// Execution scopes of the barriers that are left of a fence of some memory scope, after a ballot or without.
fn barriers_of_a_fence(
    memory: Scope,
    order: u32,
    ballot: bool,
    device: &Capabilities,
) -> Vec<Scope> {
    let mut function = Function::new("k");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    if ballot {
        let value = b.undef(Type::Bool);
        let group = Group {
            op: GroupOp::Ballot,
            scope: Scope::Subgroup,
        };
        b.op(Op::Group(group, smallvec![value]), [Type::I32; 4]);
    }
    let semantics = Semantics(order | Semantics::WORKGROUP_MEMORY);
    b.op0(Op::MemoryBarrier { memory, semantics });
    b.terminate(Terminator::Return(smallvec![]));
    let mut module = testing::module_of(function);
    testing::run_on(&mut module, device, run).unwrap();
    let function = &module.functions[0];
    let insts = function
        .layout()
        .iter()
        .flat_map(|&b| &function.block(b).insts);
    insts
        .filter_map(|&inst| match function.inst(inst).op {
            Op::ControlBarrier { execution, .. } => Some(execution),
            _ => None,
        })
        .collect()
}

#[test]
fn a_fence_of_the_sub_group_holds_its_work_items() {
    let full = Capabilities::full();
    let both = Semantics::ACQUIRE_RELEASE;
    let held = barriers_of_a_fence(Scope::Subgroup, both, true, &full);
    assert_eq!(held, [Scope::Subgroup]);
    let one_way = barriers_of_a_fence(Scope::Subgroup, Semantics::RELEASE, true, &full);
    assert_eq!(one_way, []);
    let wider = barriers_of_a_fence(Scope::Workgroup, both, true, &full);
    assert_eq!(wider, []);
    let alone = barriers_of_a_fence(Scope::Subgroup, both, false, &full);
    assert_eq!(alone, [], "the kernel has no sub-groups");
    let in_step = barriers_of_a_fence(Scope::Subgroup, both, true, &Capabilities::lavapipe());
    assert_eq!(in_step, []);
}

#[test]
fn a_device_without_shuffles_has_sub_groups_of_one() {
    let device = Capabilities {
        subgroup: SubgroupOperations::default(),
        subgroup_size: 1,
        ..Capabilities::full()
    };
    for op in OPS {
        let module = lowered(op, Scope::Subgroup, Type::I32, &device);
        assert!(left(&module).is_empty(), "{op:?}");
        assert!(!module.kernels[0].linear_groups);
    }
    let op = GroupOp::Reduce(Binary::Add);
    let module = lowered(op, Scope::Workgroup, Type::I32, &device);
    assert!(left(&module).is_empty());
    assert_eq!(
        module.globals[0].size_bytes,
        2 * 4 * 1024,
        "a place for each"
    );
}

#[test]
fn work_group_operations_use_local_memory() {
    for device in [Capabilities::full(), Capabilities::minimal()] {
        for op in [
            GroupOp::Reduce(Binary::Add),
            GroupOp::InclusiveScan(Binary::SMin),
            GroupOp::ExclusiveScan(Binary::UMax),
        ] {
            let module = lowered(op, Scope::Workgroup, Type::I32, &device);
            let groups = left(&module);
            assert!(groups.iter().all(|(g, _)| g.scope == Scope::Subgroup));
            assert_eq!(groups.len(), 2, "one of values, one of totals");
            let text = module.functions[0].to_string();
            assert_eq!(text.matches("control_barrier Workgroup").count(), 2);
        }
        let groups = left(&lowered(
            GroupOp::All,
            Scope::Workgroup,
            Type::Bool,
            &device,
        ));
        assert!(groups.iter().all(|(g, _)| g.scope == Scope::Subgroup));
    }
}

#[test]
fn identities_change_nothing() {
    use super::scalars::identity;
    assert_eq!(identity(Binary::SMin, Type::I8).unwrap(), 0x7f);
    assert_eq!(identity(Binary::SMax, Type::I8).unwrap(), 0x80);
    assert_eq!(identity(Binary::SMax, Type::I64).unwrap(), 1 << 63);
    assert_eq!(identity(Binary::UMin, Type::I16).unwrap(), 0xffff);
    assert_eq!(
        identity(Binary::FMin, Type::F32).unwrap(),
        u64::from(f32::INFINITY.to_bits())
    );
    assert_eq!(identity(Binary::FMul, Type::F16).unwrap(), 0x3c00);
    assert!(identity(Binary::Sub, Type::I32).is_err());
}
