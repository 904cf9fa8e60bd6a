use super::*;
use crate::compiler::ir::{AddressSpace, Binary, Builder, Edge, InstFlags};
use smallvec::smallvec;

/// What is found in the only function of a module, which returns an integer and gets one.
fn found(stage: Stage, build: impl FnOnce(&mut Builder<'_>, Value)) -> Vec<Rule> {
    let mut function = Function::new("f");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let number = function.add_param(entry, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    build(&mut b, number);
    let mut whole = Module::default();
    whole.add_function(function);
    let findings = module(&whole, stage).err().unwrap_or_default();
    findings.into_iter().map(|it| it.broken).collect()
}

#[test]
fn what_is_right_is_not_found() {
    let rules = found(Stage::Emit, |b, number| {
        let sum = b.binary(Binary::Add, number, number);
        b.terminate(Terminator::Return(smallvec![sum]));
    });
    assert_eq!(rules, []);
}

#[test]
fn a_function_returns_what_it_says() {
    let rules = found(Stage::Parsed, |b, _| {
        b.terminate(Terminator::Return(smallvec![]))
    });
    let (found, said) = (vec![], vec![Type::I32]);
    assert_eq!(rules, [Rule::ReturnsWhatItSays { found, said }]);
}

#[test]
fn operands_have_the_types_of_the_operation() {
    let rules = found(Stage::Parsed, |b, number| {
        let wide = b.constant(Type::I64, 1);
        let sum = b.op1(Op::Binary(Binary::Add, number, wide), Type::I32);
        b.terminate(Terminator::Return(smallvec![sum]));
    });
    let (operands, results) = (vec![Type::I32, Type::I64], vec![Type::I32]);
    assert_eq!(rules, [Rule::TypesFit { operands, results }]);
}

#[test]
fn conditions_are_booleans_and_edges_fit_their_targets() {
    let mut target = None;
    let rules = found(Stage::Parsed, |b, number| {
        let next = b.function.add_block();
        b.function.add_param(next, Type::I64);
        target = Some(next);
        b.terminate(Terminator::Branch {
            condition: number,
            then: Edge::new(next, [number]),
            otherwise: Edge::new(next, [number]),
        });
        b.switch_to(next);
        b.terminate(Terminator::Unreachable);
    });
    let misfit = Rule::EdgeFitsTarget(target.unwrap());
    assert_eq!(
        rules,
        [misfit.clone(), misfit, Rule::ConditionIsBoolean(Type::I32)]
    );
}

#[test]
fn definitions_dominate_their_uses() {
    let mut used = None;
    let rules = found(Stage::Parsed, |b, number| {
        let sum = b.binary(Binary::Add, number, number);
        used = Some(sum);
        let entry = b.function.entry();
        let first = b.function.block(entry).insts[0];
        let early = b.op1(Op::Binary(Binary::Sub, sum, number), Type::I32);
        b.function.block_mut(entry).insts.swap(0, 1);
        assert_ne!(b.function.block(entry).insts[0], first);
        b.terminate(Terminator::Return(smallvec![early]));
    });
    assert_eq!(rules, [Rule::DefinitionDominates(used.unwrap())]);
}

#[test]
fn a_stage_has_no_pointers_any_more() {
    let build = |b: &mut Builder<'_>, number: Value| {
        b.flags = InstFlags::default();
        let wide = b.constant(Type::I64, 64);
        let pointer = Type::Ptr(AddressSpace::Global);
        b.convert(Convert::IntToPtr, wide, pointer);
        b.terminate(Terminator::Return(smallvec![number]));
    };
    assert_eq!(found(Stage::ArgumentsLowered, build), []);
    let rules = found(Stage::PointersLowered, build);
    let [
        Rule::PointersAreLowered(_),
        Rule::OperationIsLowered(reason),
    ] = rules[..]
    else {
        panic!("{rules:?}");
    };
    assert_eq!(reason, "pointers are lowered");
}
