//! From a line of the table to a C function. The word after the semicolon of a line says which usual
//! arguments follow the written ones, and how the function answers:
//!
//! | word | further C arguments | the Rust function gets | and returns |
//! |---|---|---|---|
//! | (none) | | | `Result<()>` |
//! | `info` | `param_value_size, param_value, param_value_size_ret` | `Info` | `Result<Written>` |
//! | `events` | `num_events_in_wait_list, event_wait_list, event` | `EventArguments` | `Result<()>` |
//! | `errcode_ret` | `errcode_ret` | | `Result<handle>` |
//! | `events_errcode_ret` | both of the above | `EventArguments` | `Result<pointer>` |
//! | `sync_points` | `num_sync_points_in_wait_list, sync_point_wait_list, sync_point, mutable_handle` | `SyncPointArguments` | `Result<()>` |
//! | `despite_error` | `errcode_ret` | | `Result<(handle, Option<Error>)>`: both may be answered |
//! | `pointer` | | | `Result<pointer>`, NULL on failure |
//! | `nothing` | | | `Result<()>`, dropped |
//! | `unsupported…` | as the rest of the word says | nothing | an error |

/// Emits the function with the signature of C, inside and exported.
macro_rules! define {
    ($kind:ident $name:ident ($($arg:ident: $ty:ty),*) -> $ret:ty { $entry:ident => $body:expr }) => {
        /// See the specification.
        ///
        /// # Safety
        /// The pointers are as the specification of the function says.
        #[allow(non_snake_case, unused_unsafe, unused_variables)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            static ENTRY: Entry = Entry::new(stringify!($name));
            let $entry = &ENTRY;
            // SAFETY: pointers are as C promises them; functions that don't follow any are safe.
            unsafe { $body }
        }
        crate::icd::stub::export! { $kind $name ($($arg: $ty),*) -> $ret }
    };
}

/// Exports a function under its name, unless it belongs to an extension that is not supported.
macro_rules! export {
    (sharing $($rest:tt)*) => {};
    ($kind:ident $name:ident ($($arg:ident: $ty:ty),*) -> $ret:ty) => {
        const _: () = {
            #[unsafe(export_name = stringify!($name))]
            unsafe extern "C" fn exported($($arg: $ty),*) -> $ret {
                // SAFETY: the caller's promise.
                unsafe { $name($($arg),*) }
            }
        };
    };
}

/// Chooses the further arguments and the way to answer.
macro_rules! stub {
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n ($($a: $t),*) -> $r { entry => entry.code(|| $path($($a),*)) } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [info] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n (
            $($a: $t,)* param_value_size: usize, param_value: *mut c_void, param_value_size_ret: *mut usize
        ) -> $r { entry => entry.code(|| {
            $path($($a,)* Info::new(param_value_size, param_value, param_value_size_ret))
        }) } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [events] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n (
            $($a: $t,)* num_events_in_wait_list: cl_uint, event_wait_list: *const cl_event, event: *mut cl_event
        ) -> $r { entry => entry.code(|| {
            $path($($a,)* EventArguments::new(num_events_in_wait_list, event_wait_list, event))
        }) } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [sync_points] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n (
            $($a: $t,)* num_sync_points_in_wait_list: cl_uint, sync_point_wait_list: *const cl_sync_point_khr,
            sync_point: *mut cl_sync_point_khr, mutable_handle: *mut cl_mutable_command_khr
        ) -> $r { entry => entry.code(|| {
            $path($($a,)* SyncPointArguments::new(
                num_sync_points_in_wait_list, sync_point_wait_list, sync_point, mutable_handle
            ))
        }) } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [errcode_ret] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n ($($a: $t,)* errcode_ret: *mut cl_int) -> $r {
            entry => entry.object(errcode_ret, || $path($($a),*))
        } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [despite_error] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n ($($a: $t,)* errcode_ret: *mut cl_int) -> $r {
            entry => entry.object_despite_error(errcode_ret, || $path($($a),*))
        } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [events_errcode_ret] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n (
            $($a: $t,)* num_events_in_wait_list: cl_uint, event_wait_list: *const cl_event, event: *mut cl_event,
            errcode_ret: *mut cl_int
        ) -> $r { entry => entry.object(errcode_ret, || {
            $path($($a,)* EventArguments::new(num_events_in_wait_list, event_wait_list, event))
        }) } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [pointer] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n ($($a: $t),*) -> $r { entry => entry.pointer(|| $path($($a),*)) } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [nothing] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n ($($a: $t),*) -> $r { entry => entry.nothing(|| $path($($a),*)) } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [unsupported] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n ($($a: $t),*) -> $r { entry => entry.code(|| $path().map(drop)) } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [unsupported_info] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n (
            $($a: $t,)* param_value_size: usize, param_value: *mut c_void, param_value_size_ret: *mut usize
        ) -> $r { entry => entry.code(|| $path().map(drop)) } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [unsupported_events] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n (
            $($a: $t,)* num_events_in_wait_list: cl_uint, event_wait_list: *const cl_event, event: *mut cl_event
        ) -> $r { entry => entry.code(|| $path().map(drop)) } }
    };
    ($k:ident $n:ident ($($a:ident: $t:ty),*) [unsupported_errcode_ret] $r:ty, $path:path) => {
        crate::icd::stub::define! { $k $n ($($a: $t,)* errcode_ret: *mut cl_int) -> $r {
            entry => entry.object(errcode_ret, || $path())
        } }
    };
}

/// The whole table.
macro_rules! entry_points {
    (
        dispatch { $($kind:ident $name:ident ($($arg:ident: $ty:ty),* $(; $tail:ident)?) -> $ret:ty = $path:path;)* }
        beyond_dispatch {
            $($bkind:ident $bname:ident ($($barg:ident: $bty:ty),* $(; $btail:ident)?) -> $bret:ty = $bpath:path;)*
        }
        aliases { $($alias:ident = $target:ident;)* }
    ) => {
        $(crate::icd::stub::stub! { $kind $name ($($arg: $ty),*) [$($tail)?] $ret, $path })*
        $(crate::icd::stub::stub! { $bkind $bname ($($barg: $bty),*) [$($btail)?] $bret, $bpath })*

        /// The functions of the dispatch table, in its order.
        pub(super) static ENTRIES: [EntryPoint; [$(stringify!($name)),*].len()] = [
            $(EntryPoint {
                name: stringify!($name),
                function: $name as *const c_void,
                kind: crate::icd::stub::kind!($kind),
            },)*
        ];

        /// Entry points without a slot in the dispatch table.
        pub(super) static BEYOND_DISPATCH: &[EntryPoint] = &[
            $(EntryPoint {
                name: stringify!($bname),
                function: $bname as *const c_void,
                kind: crate::icd::stub::kind!($bkind),
            },)*
        ];

        /// Extension functions that became core functions: alias and target.
        pub(super) static ALIASES: &[(&str, &str)] = &[$((stringify!($alias), stringify!($target)),)*];

        // The table has the order of the headers,
        const _: () = {
            let mut place = 0;
            $(
                assert!(
                    offset_of!(cl_icd_dispatch, $name) == place * size_of::<usize>(),
                    concat!(stringify!($name), " is out of order")
                );
                place += 1;
            )*
            assert!(size_of::<cl_icd_dispatch>() == place * size_of::<usize>());
        };
        // and its signatures.
        const _: cl_icd_dispatch = cl_icd_dispatch { $($name: Some($name),)* };
    };
}

macro_rules! kind {
    (core) => {
        crate::icd::Kind::Core
    };
    (extension) => {
        crate::icd::Kind::Extension
    };
    (sharing) => {
        crate::icd::Kind::Sharing
    };
}

pub(super) use {define, entry_points, export, kind, stub};
