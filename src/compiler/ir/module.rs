//! Modules: functions, kernels, variables of module scope.

use super::{AddressSpace, ArrayId, FuncId, Function, GlobalId, Type};
use crate::compiler::printf::PrintfCall;
use crate::compiler::program::{
    Argument, ArgumentBlock, ArgumentInfo, ImageType, KernelAttributes,
};
use std::sync::Arc;

/// Work-items that a work-group has at most. Local ids are known to be below.
pub const MAX_WORK_GROUP_SIZE: u16 = u16::MAX;

/// Which functions have shared bodies in a kernel that gets too large without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All that make the kernel smaller.
    All,
    /// Those that make it smaller by a good part.
    Large,
    /// None.
    Nothing,
}

/// A variable of module scope: `local` (Workgroup), `constant` or `global`.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    pub name: String,
    pub space: AddressSpace,
    pub size_bytes: u64,
    pub align_bytes: u32,
    /// Initial bytes, `size_bytes` of them; `None` for zeros (and for `local`, which has none). Every kernel's module has all
    /// variables of its program: they share what may be large.
    pub initializer: Option<Arc<Vec<u8>>>,
    /// Pointers within the initializer.
    pub relocations: Arc<Vec<Relocation>>,
    /// For the memory behind a `local` argument: the `SpecId` of its length in elements of the array that
    /// `lower::pointers` makes; `size_bytes` is then 0.
    pub spec_id: Option<u32>,
    /// Name by which other modules import it, if exported.
    pub export: Option<String>,
    /// Name under which it is imported from another module, if it is only declared here.
    pub import: Option<String>,
}

/// The 64-bit address of `target` plus `addend` bytes goes to `offset_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    pub offset_bytes: u64,
    pub target: GlobalId,
    pub addend: i64,
}

/// Memory of one storage class as an array of scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    pub name: String,
    pub storage: ArrayStorage,
    pub element: Type,
    pub length: ArrayLength,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArrayStorage {
    /// Shared by the work-group (SPIR-V Workgroup).
    Workgroup,
    /// One per work-item (SPIR-V Private).
    Private,
}

/// A number of elements: a constant plus specialization constants (of these `SpecId`s), one for each
/// `local` argument in the array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrayLength {
    pub elements: u32,
    pub spec_ids: Vec<u32>,
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub name: String,
    pub function: FuncId,
    /// In the order of the OpenCL C declaration.
    pub parameters: Vec<KernelParameter>,
    pub attributes: KernelAttributes,
    /// `ContractionOff`: multiplications and additions must not be fused.
    pub contraction_off: bool,
    /// What `clSetKernelArg` fills in; set by `lower::arguments`, completed by `lower::pointers`.
    pub arguments: Vec<Argument>,
    /// Set by `lower::arguments`.
    pub argument_block: ArgumentBlock,
    /// See `CompiledKernel::sees_work_groups`; set by `lower::work_items`.
    pub sees_work_groups: bool,
    /// Whether it uses device addresses that are not arguments (`CompiledKernel::follows_pointers`); set by
    /// `lower::arguments`.
    pub follows_pointers: bool,
    /// Set by `lower::printf`.
    pub printf_calls: Vec<PrintfCall>,
    /// Whether its work-groups run as one row of work-items, x times y times z of them, so that sub-groups are
    /// consecutive linear local ids and all full but the last; set by `lower::groups`.
    pub linear_groups: bool,
    /// See `CompiledKernel::small_range_spec_id`; set by `shorten_addresses`.
    pub small_range_spec_id: Option<u32>,
    /// See `CompiledKernel::whole_rows_spec_id`; set by `end_rows`.
    pub whole_rows_spec_id: Option<u32>,
    /// See `CompiledKernel::uniform_bytes`; set by `read_uniforms`.
    pub uniform_bytes: u32,
    /// See `CompiledKernel::excess`; set by `measure_frame`.
    pub excess: Option<String>,
}

impl Kernel {
    /// A kernel without parameters, of which nothing is known but its name and its function.
    pub fn new(name: impl Into<String>, function: FuncId) -> Self {
        Self {
            name: name.into(),
            function,
            parameters: Vec::new(),
            attributes: KernelAttributes::default(),
            contraction_off: false,
            arguments: Vec::new(),
            argument_block: ArgumentBlock::default(),
            sees_work_groups: false,
            follows_pointers: false,
            printf_calls: Vec::new(),
            linear_groups: false,
            small_range_spec_id: None,
            whole_rows_spec_id: None,
            uniform_bytes: 0,
            excess: None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct KernelParameter {
    pub kind: KernelParameterKind,
    pub info: ArgumentInfo,
    /// The parameters of the function that it became: a range of positions.
    pub first_param: usize,
    pub param_count: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum KernelParameterKind {
    /// A value of `size_bytes`; each function parameter's byte offset in it.
    Value {
        size_bytes: u32,
        align_bytes: u32,
        offsets_bytes: Vec<u32>,
    },
    /// A structure passed as a pointer to private memory that the kernel owns (`ByVal`): one parameter.
    ByValue { size_bytes: u32, align_bytes: u32 },
    /// A pointer to global, constant or local memory: one parameter.
    Pointer(AddressSpace),
    /// The scalars of `ImageField::ALL`.
    Image(ImageType),
    /// A sampler's 32 bits: one parameter.
    Sampler,
}

/// A unit of compilation. After `extract_kernel` it holds one kernel and what that kernel reaches.
#[derive(Clone, Debug, Default)]
pub struct Module {
    pub functions: Vec<Function>,
    /// Names under which functions can be imported by other modules.
    pub exports: Vec<(String, FuncId)>,
    /// Exported names that other modules may define as well (`LinkOnceODR`): any one definition serves.
    pub link_once: Vec<String>,
    /// Functions that are only declared: their name in the module that holds them.
    pub imports: Vec<(String, FuncId)>,
    pub globals: Vec<Global>,
    pub kernels: Vec<Kernel>,
    pub arrays: Vec<Array>,
    /// In which other ways functions could have had shared bodies in the kernel, where some have.
    pub other_sharing: Vec<Sharing>,
}

impl Module {
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    pub fn function_mut(&mut self, id: FuncId) -> &mut Function {
        &mut self.functions[id.index()]
    }

    pub fn add_function(&mut self, function: Function) -> FuncId {
        self.functions.push(function);
        FuncId(self.functions.len() as u32 - 1)
    }

    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.index()]
    }

    pub fn add_global(&mut self, global: Global) -> GlobalId {
        self.globals.push(global);
        GlobalId(self.globals.len() as u32 - 1)
    }

    /// What `BuiltIn::LocalInvocationId` stays below in each dimension: the size that the module's kernel requires of
    /// its work-groups, or what any work-group stays within.
    pub fn most_local_sizes(&self) -> [u32; 3] {
        let most = u32::from(MAX_WORK_GROUP_SIZE);
        let [kernel] = self.kernels.as_slice() else {
            return [most; 3];
        };
        let required = kernel.attributes.required_work_group_size;
        match (required, kernel.linear_groups) {
            (Some(sizes), false) => sizes,
            (Some(sizes), true) => [sizes.into_iter().fold(1, u32::saturating_mul), 1, 1],
            (None, false) => [most; 3],
            (None, true) => [most, 1, 1],
        }
    }

    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.index()]
    }

    pub fn add_array(&mut self, array: Array) -> ArrayId {
        self.arrays.push(array);
        ArrayId(self.arrays.len() as u32 - 1)
    }

    /// Every function's id, in order.
    pub fn function_ids(&self) -> impl Iterator<Item = FuncId> + use<> {
        (0..self.functions.len() as u32).map(FuncId)
    }
}
