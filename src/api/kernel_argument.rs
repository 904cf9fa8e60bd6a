//! What `clSetKernelArg` sets an argument to, by what the kernel declares it as.

use super::error::{Error, Result};
use super::handle;
use crate::compiler::program::{AccessQualifier, ImageType};
use crate::runtime::context::Context;
use crate::runtime::context::sampler::Sampler;
use crate::runtime::launch::argument::{ArgumentClass, ArgumentValue};
use crate::runtime::launch::kernel::Kernel;
use crate::runtime::memory::Memory;
use opencl_sys::{
    CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_MEM_OBJECT, CL_INVALID_SAMPLER,
    CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, cl_int, cl_mem, cl_uint,
};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::sync::Arc;

/// What `clSetKernelArg` sets argument `arg_index` of a kernel to.
///
/// # Errors
/// Those of `clSetKernelArg`.
///
/// # Safety
/// `arg_value` is NULL or has `arg_size` bytes.
pub(super) unsafe fn value(
    kernel: &Kernel,
    arg_index: cl_uint,
    arg_size: usize,
    arg_value: *const c_void,
) -> Result<ArgumentValue> {
    let given = Given {
        context: kernel.program().context(),
        index: arg_index,
        size_bytes: arg_size,
        value: arg_value,
    };
    match kernel.argument_class(arg_index)? {
        ArgumentClass::Value { size_bytes } => given.bytes(size_bytes as usize),
        ArgumentClass::Buffer => given.buffer(),
        ArgumentClass::Local => given.local(),
        ArgumentClass::Image(declared) => given.image(declared),
        ArgumentClass::Pipe => given.pipe(),
        ArgumentClass::Sampler => given.sampler(),
    }
}

/// An argument as the application gives it.
struct Given<'a> {
    /// The kernel's.
    context: &'a Arc<Context>,
    index: cl_uint,
    size_bytes: usize,
    /// NULL, or that many bytes: the promise of [`value`].
    value: *const c_void,
}

impl Given<'_> {
    fn fault(&self, code: cl_int, what: &str) -> Error {
        Error::new(code, format!("argument {}: {what}", self.index))
    }

    fn bad_size(&self, expected_bytes: usize) -> Error {
        let size_bytes = self.size_bytes;
        let what = format!("arg_size is {size_bytes}, not {expected_bytes}");
        self.fault(CL_INVALID_ARG_SIZE, &what)
    }

    /// The bytes of a value.
    fn bytes(&self, size_bytes: usize) -> Result<ArgumentValue> {
        // "CL_INVALID_ARG_VALUE if arg_value specified is not a valid value."
        if self.value.is_null() {
            return Err(self.fault(CL_INVALID_ARG_VALUE, "arg_value is NULL"));
        }
        // "CL_INVALID_ARG_SIZE if arg_size does not match the size of the data type for an argument that is
        // not a memory object".
        if self.size_bytes != size_bytes {
            return Err(self.bad_size(size_bytes));
        }
        // SAFETY: so many bytes are there, by the promise of `value`.
        let bytes = unsafe { std::slice::from_raw_parts(self.value.cast::<u8>(), size_bytes) };
        Ok(ArgumentValue::Bytes(SmallVec::from_slice(bytes)))
    }

    fn buffer(&self) -> Result<ArgumentValue> {
        // "… or if the argument is a memory object and arg_size != sizeof(cl_mem)".
        let check_size = || {
            if self.size_bytes == size_of::<cl_mem>() {
                Ok(())
            } else {
                Err(self.bad_size(size_of::<cl_mem>()))
            }
        };
        // "If the argument is declared to be a pointer of a built-in scalar or vector type … the memory
        // object specified as argument value must be a buffer object (or NULL) … the arg_value pointer can
        // be NULL or point to a NULL value in which case a NULL value will be used".
        let memory = if self.value.is_null() {
            std::ptr::null_mut()
        } else {
            check_size()?;
            // SAFETY: the promise of `value`, and the size of a handle.
            unsafe { self.value.cast::<cl_mem>().read_unaligned() }
        };
        // "CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the specified arg_value
        // is not a valid memory object."
        let memory = handle::get_optional::<Memory>(memory)?;
        let refuse = |what| Err(self.fault(CL_INVALID_MEM_OBJECT, what));
        if memory
            .as_ref()
            .is_some_and(|memory| !self.is_of_context(memory))
        {
            return refuse("the buffer belongs to another context");
        }
        if memory.as_ref().is_some_and(|memory| !memory.is_buffer()) {
            return refuse("it is no buffer, the kernel takes one");
        }
        check_size()?;
        Ok(ArgumentValue::Memory(memory.as_ref().map(Arc::downgrade)))
    }

    /// The size of local memory.
    fn local(&self) -> Result<ArgumentValue> {
        // "If the argument is declared with the local qualifier, the arg_value entry must be NULL."
        if !self.value.is_null() {
            let what = "it is local, arg_value is not NULL";
            return Err(self.fault(CL_INVALID_ARG_VALUE, what));
        }
        // "… or if arg_size is zero and the argument is declared with the local qualifier".
        if self.size_bytes == 0 {
            return Err(self.fault(CL_INVALID_ARG_SIZE, "it is local, arg_size is 0"));
        }
        Ok(ArgumentValue::LocalBytes(self.size_bytes as u64))
    }

    fn image(&self, declared: ImageType) -> Result<ArgumentValue> {
        let memory = self.memory()?;
        let Some(image) = memory.image().filter(|_| self.is_of_context(&memory)) else {
            let what = "it is no image of the kernel's context";
            return Err(self.fault(CL_INVALID_MEM_OBJECT, what));
        };
        // "CL_INVALID_ARG_VALUE if the argument is an image declared with the read_only qualifier and
        // arg_value refers to an image object created with cl_mem_flags of CL_MEM_WRITE_ONLY or if the image
        // argument is declared with the write_only qualifier and arg_value refers to an image object created
        // with cl_mem_flags of CL_MEM_READ_ONLY." What is declared read_write is both.
        let forbidden = match declared.access {
            AccessQualifier::WriteOnly => CL_MEM_READ_ONLY,
            AccessQualifier::ReadWrite => CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
            _ => CL_MEM_WRITE_ONLY,
        };
        let refuse = |what| Err(self.fault(CL_INVALID_ARG_VALUE, what));
        if memory.flags() & forbidden != 0 {
            return refuse("the image's flags forbid what the kernel does with it");
        }
        if image.dimension != declared.dimension {
            return refuse("the image has another dimension than the kernel's argument");
        }
        if image.format.is_depth() != declared.depth {
            return refuse("a depth image and one that is none");
        }
        Ok(ArgumentValue::Memory(Some(Arc::downgrade(&memory))))
    }

    fn pipe(&self) -> Result<ArgumentValue> {
        let memory = self.memory()?;
        if !self.is_of_context(&memory) || memory.pipe().is_none() {
            let what = "it is no pipe of the kernel's context";
            return Err(self.fault(CL_INVALID_MEM_OBJECT, what));
        }
        Ok(ArgumentValue::Memory(Some(Arc::downgrade(&memory))))
    }

    fn sampler(&self) -> Result<ArgumentValue> {
        // "CL_INVALID_SAMPLER for an argument declared to be of type sampler_t when the specified arg_value
        // is not a valid sampler object."
        let sampler = if self.value.is_null() {
            std::ptr::null_mut()
        } else {
            self.handle()?
        };
        let sampler: Arc<Sampler> = handle::get(sampler)?;
        if !Arc::ptr_eq(sampler.context(), self.context) {
            let what = "the sampler belongs to another context";
            return Err(self.fault(CL_INVALID_SAMPLER, what));
        }
        Ok(ArgumentValue::Sampler(sampler.word()))
    }

    /// The memory object, which there must be: "CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the
    /// specified arg_value is not a valid memory object."
    fn memory(&self) -> Result<Arc<Memory>> {
        handle::get(self.handle()?)
    }

    fn is_of_context(&self, memory: &Memory) -> bool {
        Arc::ptr_eq(memory.context(), self.context)
    }

    /// The handle that the argument is set to.
    fn handle(&self) -> Result<*mut c_void> {
        // "CL_INVALID_ARG_VALUE if arg_value specified is not a valid value."
        if self.value.is_null() {
            return Err(self.fault(CL_INVALID_ARG_VALUE, "arg_value is NULL"));
        }
        // "CL_INVALID_ARG_SIZE … if the argument is a memory object and arg_size != sizeof(cl_mem) … or if the
        // argument is a sampler and arg_size != sizeof(cl_sampler)."
        if self.size_bytes != size_of::<*mut c_void>() {
            return Err(self.bad_size(size_of::<*mut c_void>()));
        }
        // SAFETY: the promise of `value`, and the size of a handle.
        Ok(unsafe { self.value.cast::<*mut c_void>().read_unaligned() })
    }
}
