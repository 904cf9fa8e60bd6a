//! Standard output, by way of the C library: what an application has printed before with `printf` stays before.

/// Writes `text` to the C library's `stdout` and flushes it.
pub fn write(text: &[u8]) {
    if text.is_empty() {
        return;
    }
    // SAFETY: the C library's own stream, set up before any of our code runs, locked by each call; the bytes
    // are valid for the length given.
    let written = unsafe {
        let stream = STDOUT;
        let written = libc::fwrite(text.as_ptr().cast(), 1, text.len(), stream);
        libc::fflush(stream);
        written
    };
    if written < text.len() {
        log::warn!(
            "standard output took {written} of {} bytes that kernels printed",
            text.len()
        );
    }
}

unsafe extern "C" {
    #[cfg_attr(target_vendor = "apple", link_name = "__stdoutp")]
    #[cfg_attr(not(target_vendor = "apple"), link_name = "stdout")]
    static STDOUT: *mut libc::FILE;
}
