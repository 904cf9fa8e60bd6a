//! Variables of module scope.

use super::Source;
use super::constants::{Constant, Data, Initializer, MAX_INITIALIZER_BYTES, Scalar, zeros};
use super::decode::{Id, Instruction};
use super::decorations::Linkage;
use super::slot::Layout;
use super::types::Storage;
use crate::compiler::CompileError;
use crate::compiler::ir::{AddressSpace, Global};
use rspirv::spirv::{self, Decoration};
use std::sync::Arc;

/// What a module-scope `OpVariable` that is not memory stands for; memory is among the constants.
pub(super) struct Variable {
    /// The pointer type.
    pub ty: Id,
    pub built_in: spirv::BuiltIn,
    /// The type that the pointer points to.
    pub pointee: Id,
}

/// All variables of a module together: they become one allocation.
const MAX_VARIABLE_BYTES: u64 = 1 << 30;

/// Declares a variable of module scope.
pub(super) fn declare(source: &mut Source<'_>, inst: &Instruction<'_>) -> Result<(), CompileError> {
    let id = inst.result()?;
    let ty = inst.result_type()?;
    let (storage, pointee) = source.types.pointee(ty)?;
    // The translator from LLVM of OpenCL 2.0's days has built-ins in UniformConstant, and imports them.
    let storage = match source.decorations.literal(id, Decoration::BuiltIn) {
        Some(_) => Storage::Input,
        None => storage,
    };
    let space = match storage {
        Storage::Input => return declare_input(source, inst, ty, pointee),
        Storage::Space(AddressSpace::Private | AddressSpace::Generic) => {
            return Err(
                inst.invalid("a module-scope variable is not in local, global or constant memory")
            );
        }
        Storage::Space(space) => space,
    };
    let initializer = inst.operands.get(1).map(|&id| Id(id));
    let initializer = initializer.filter(|_| space != AddressSpace::Local);
    let layout = layout(source, id, space, pointee, initializer)?;
    source.variable_bytes = source.variable_bytes.saturating_add(layout.size_bytes);
    if source.variable_bytes > MAX_VARIABLE_BYTES {
        return Err(inst.unsupported("the module's variables are too large"));
    }
    let Symbol {
        name,
        import,
        export,
    } = symbol(source, id);
    let (initializer, relocations) = match initializer {
        Some(initializer) => contents(source, inst, initializer, pointee)?.unzip(),
        None => (None, None),
    };
    let initializer = match spelled_initializer(source, id, layout.size_bytes)? {
        Some(spelled) => Some(spelled),
        None => initializer,
    };
    let global = source.module.add_global(Global {
        name,
        space,
        size_bytes: layout.size_bytes,
        align_bytes: layout.align_bytes.max(source.alignment(id).unwrap_or(1)),
        initializer: initializer.map(Arc::new),
        relocations: Arc::new(relocations.unwrap_or_default()),
        spec_id: None,
        export,
        import,
    });
    let data = Data::Scalar(Scalar::Address { global, addend: 0 });
    source.constants.insert(id, Constant { ty, data })
}

/// Declares an input variable, which stands for a built-in.
fn declare_input(
    source: &mut Source<'_>,
    inst: &Instruction<'_>,
    ty: Id,
    pointee: Id,
) -> Result<(), CompileError> {
    let id = inst.result()?;
    let built_in = source
        .decorations
        .literal(id, Decoration::BuiltIn)
        .and_then(spirv::BuiltIn::from_u32)
        .ok_or_else(|| inst.invalid("an input variable is not a known built-in"))?;
    let variable = Variable {
        ty,
        built_in,
        pointee,
    };
    source.variables.insert(id, variable);
    Ok(())
}

/// Size and alignment of a variable in memory: those of its type, or greater ones that its initializer or its front
/// end asks for.
fn layout(
    source: &Source<'_>,
    variable: Id,
    space: AddressSpace,
    pointee: Id,
    initializer: Option<Id>,
) -> Result<Layout, CompileError> {
    let mut layout = source.types.layout(pointee)?;
    if space == AddressSpace::Local
        && let Some(size) = spelled_size(source, variable)
    {
        layout.size_bytes = layout.size_bytes.max(size);
    }
    let constant = initializer.and_then(|id| source.constants.get(id));
    if let Some(constant) = constant.filter(|constant| fits_any_type(source, constant)) {
        let own = source.types.layout(constant.ty)?;
        layout.size_bytes = layout.size_bytes.max(own.size_bytes);
        layout.align_bytes = layout.align_bytes.max(own.align_bytes);
    }
    Ok(layout)
}

/// Whether a constant may initialize variables of other types than its own.
///
/// clang 22 may give a variable that holds a pointer the type that its own address is compared as, which may be
/// narrower; and pointers a null of an integer type, which is as null as any.
fn fits_any_type(source: &Source<'_>, constant: &Constant) -> bool {
    matches!(constant.data, Data::Null) || source.types.pointee(constant.ty).is_ok()
}

/// Names of a variable: that in the IR, and those that it is linked by.
struct Symbol {
    name: String,
    import: Option<String>,
    export: Option<String>,
}

/// The names of a variable; the module lists a name that others may define as well.
fn symbol(source: &mut Source<'_>, variable: Id) -> Symbol {
    let (import, export) = match source.decorations.linkage(variable) {
        Some(Linkage::Import(name)) => (Some(name), None),
        Some(Linkage::Export(name)) => (None, Some(name)),
        Some(Linkage::LinkOnce(name)) => {
            source.module.link_once.push(name.clone());
            (None, Some(name))
        }
        None => (None, None),
    };
    let name = match (&import, &export, source.decorations.name(variable)) {
        (Some(name), _, _) | (_, Some(name), _) => name.clone(),
        (None, None, Some(name)) => name.to_owned(),
        (None, None, None) => format!("variable_{}", variable.0),
    };
    Symbol {
        name,
        import,
        export,
    }
}

/// The bytes of an initializer and the addresses in them; `None` if it is null or undefined.
fn contents(
    source: &mut Source<'_>,
    inst: &Instruction<'_>,
    initializer: Id,
    pointee: Id,
) -> Result<Option<Initializer>, CompileError> {
    let fits = source.constants.get(initializer).is_some_and(|constant| {
        fits_any_type(source, constant) || source.types.alike(constant.ty, pointee)
    });
    if !fits {
        return Err(inst.invalid("the initializer is no constant of the variable's type"));
    }
    let contents = source.constants.bytes(initializer, &source.types)?;
    // A few nested constants can stand for any number of bytes.
    source.initializer_bytes += contents.as_ref().map_or(0, |(bytes, addresses)| {
        bytes.len() + size_of_val(addresses.as_slice())
    });
    if source.initializer_bytes as u64 > MAX_INITIALIZER_BYTES {
        return Err(inst.unsupported("the module's initializers are too large"));
    }
    Ok(contents)
}

/// The bytes of a large table, which Pumice's own front end keeps from clang: parts of it that are not all zeros, each
/// `OpString "initializer.OFFSET.BYTES.NAME"` with the bytes in hexadecimal.
fn spelled_initializer(
    source: &mut Source<'_>,
    variable: Id,
    size_bytes: u64,
) -> Result<Option<Vec<u8>>, CompileError> {
    let Some(name) = source.decorations.name(variable) else {
        return Ok(None);
    };
    let part = |string: &String| {
        let string = string.strip_prefix("initializer.")?;
        let (offset, digits) = string
            .strip_suffix(name)?
            .strip_suffix('.')?
            .split_once('.')?;
        // Of another variable, whose name ends like this one's.
        let is_others = digits.contains('.');
        (!is_others).then_some((offset.parse::<usize>().ok()?, digits.to_owned()))
    };
    let strings = source.decorations.strings.iter();
    let parts: Vec<(usize, String)> = strings.filter_map(part).collect();
    if parts.is_empty() {
        return Ok(None);
    }
    source.initializer_bytes = source.initializer_bytes.saturating_add(size_bytes as usize);
    if source.initializer_bytes as u64 > MAX_INITIALIZER_BYTES {
        return Err(CompileError::unsupported(
            "the module's initializers are too large",
        ));
    }
    let mut bytes = zeros(size_bytes as usize)?;
    for (offset, digits) in parts {
        let outside = || CompileError::invalid("the bytes of a table do not fit its type");
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        let to = bytes.get_mut(offset..).unwrap_or_default();
        let to = to.get_mut(..pairs.len()).ok_or_else(outside)?;
        for (to, pair) in to.iter_mut().zip(pairs) {
            let digit = |place: usize| char::from(pair[place]).to_digit(16).ok_or_else(outside);
            *to = (digit(0)? << 4 | digit(1)?) as u8;
        }
        if !rest.is_empty() {
            return Err(outside());
        }
    }
    Ok(Some(bytes))
}

/// The size that Pumice's own front end adds for a local variable, of whose type clang 22 may leave no more
/// than the first element: `OpString "local_size.NAME.bytes"`.
fn spelled_size(source: &Source<'_>, variable: Id) -> Option<u64> {
    let name = source.decorations.name(variable)?;
    source.decorations.strings.iter().find_map(|string| {
        let rest = string.strip_prefix("local_size.")?;
        rest.strip_prefix(name)?.strip_prefix('.')?.parse().ok()
    })
}
