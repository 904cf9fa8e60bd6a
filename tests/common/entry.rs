//! Functions that `opencl3` has no wrapper for.

/// A function of the library by its name, which its type follows.
macro_rules! entry {
    ($type:ty, $name:literal) => {{
        let path = std::ffi::CString::new(std::env::var("OPENCL_DYLIB_PATH").unwrap()).unwrap();
        // SAFETY: the library that `common` loaded; the headers give the function that type.
        unsafe {
            let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
            assert!(!library.is_null());
            let name = std::ffi::CString::new($name).unwrap();
            let address = libc::dlsym(library, name.as_ptr());
            assert!(!address.is_null(), "{} is not exported", $name);
            std::mem::transmute::<*mut std::ffi::c_void, $type>(address).unwrap()
        }
    }};
}
