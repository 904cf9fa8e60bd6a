//! Compiled things kept on disk between processes.
//!
//! One entry is one file, named by the SHA-256 of everything its contents follow from. It is written under
//! another name and renamed, so processes that run at once see it whole or not at all; it carries a
//! checksum, so what was damaged is a miss. Reading an entry renews its time, and the oldest go when the
//! whole grows past a bound. Nothing here is ever an error to the caller: a cache that can't be used is no
//! cache.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::compiler::spirv::words;

/// First bytes of every entry; the digit is the version of the layout.
const MAGIC: &[u8; 8] = b"PUMICEC2";
/// Magic and checksum, a CRC-32: it finds what a disk or a crash has damaged. Nobody is kept from writing a right one.
const HEADER_BYTES: usize = MAGIC.len() + size_of::<u32>();
/// Entries above this together are evicted, oldest first.
pub const DEFAULT_LIMIT_BYTES: u64 = 1 << 30;
/// The directory is measured at the first write of a process and again after this many.
const WRITES_BETWEEN_MEASURES: u64 = 64;

/// What an entry is named by. Built from all inputs of the thing kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key([u8; 32]);

/// Collects the inputs of a [`Key`]; the driver's own identity is always among them.
pub struct KeyBuilder(Sha256);

impl KeyBuilder {
    /// `kind` keeps entries of different meaning apart.
    pub fn new(kind: &str) -> Self {
        Self(Sha256::new())
            .field(kind.as_bytes())
            .field(DRIVER_IDENTITY.as_bytes())
    }

    /// Adds one input. Its length goes in too, so that two fields never run into one.
    pub fn field(mut self, bytes: &[u8]) -> Self {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// [`Self::field`] of words as little-endian bytes, a SPIR-V module's above all.
    pub fn words(mut self, words: &[u32]) -> Self {
        self.0.update((size_of_val(words) as u64).to_le_bytes());
        words::give_bytes(words, |part| self.0.update(part));
        self
    }

    pub fn finish(self) -> Key {
        Key(self.0.finalize().into())
    }
}

impl Key {
    fn file_name(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The driver as far as code made by it goes: its version, and a hash of the compiler's sources.
pub const DRIVER_IDENTITY: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " ",
    env!("PUMICE_COMPILER_STAMP")
);

/// Path, size and time of a file as text: changes when the file is replaced.
pub fn file_identity(path: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    match fs::metadata(path) {
        Ok(data) => format!(
            "{} {} {}.{}",
            path.display(),
            data.len(),
            data.mtime(),
            data.mtime_nsec()
        ),
        Err(_) => path.display().to_string(),
    }
}

/// A directory of entries, or no cache at all.
#[derive(Debug)]
pub struct DiskCache {
    root: Option<PathBuf>,
    limit_bytes: u64,
    writes: AtomicU64,
}

impl DiskCache {
    /// A cache under `root`; made when first written to.
    pub fn new(root: PathBuf, limit_bytes: u64) -> Self {
        Self {
            root: Some(root),
            limit_bytes,
            writes: AtomicU64::new(0),
        }
    }

    /// Always misses, keeps nothing.
    pub fn disabled() -> Self {
        Self {
            root: None,
            limit_bytes: 0,
            writes: AtomicU64::new(0),
        }
    }

    /// Where entries lie; `None` when the cache is off.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    fn entry_path(&self, key: Key) -> Option<PathBuf> {
        Some(self.root.as_ref()?.join(key.file_name()))
    }

    /// The contents kept under `key`.
    pub fn get(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.entry_path(key)?;
        let mut file = fs::File::open(&path).ok()?;
        let Some(payload) = checked_payload(&mut file) else {
            log::warn!("damaged cache entry {} is ignored", path.display());
            // Another process may just have replaced it by a good one; losing that costs one compilation.
            let _ = fs::remove_file(&path);
            return None;
        };
        let _ = file.set_modified(SystemTime::now());
        Some(payload)
    }

    /// Keeps `payload` under `key`. Failures are logged and otherwise ignored.
    pub fn put(&self, key: Key, payload: &[u8]) {
        let Some(root) = &self.root else { return };
        if let Err(error) = write_entry(root, &key.file_name(), payload) {
            log::debug!("cache entry in {} not written: {error}", root.display());
            return;
        }
        if self
            .writes
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(WRITES_BETWEEN_MEASURES)
        {
            evict(root, self.limit_bytes);
        }
    }
}

fn checked_payload(file: &mut fs::File) -> Option<Vec<u8>> {
    let mut header = [0; HEADER_BYTES];
    file.read_exact(&mut header).ok()?;
    let mut payload = Vec::new();
    file.read_to_end(&mut payload).ok()?;
    let (magic, checksum) = header.split_at(MAGIC.len());
    let is_whole = || checksum == crc32fast::hash(&payload).to_le_bytes();
    (magic == MAGIC && is_whole()).then_some(payload)
}

fn write_entry(root: &Path, name: &str, payload: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(root)?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let temporary = root.join(format!(".{name}.{}.{number}", std::process::id()));
    let write = || -> io::Result<()> {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(MAGIC)?;
        file.write_all(&crc32fast::hash(payload).to_le_bytes())?;
        file.write_all(payload)?;
        fs::rename(&temporary, root.join(name))
    };
    let result = write();
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Removes the entries used longest ago until four fifths of the limit are left.
fn evict(root: &Path, limit_bytes: u64) {
    let Ok(directory) = fs::read_dir(root) else {
        return;
    };
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = directory
        .flatten()
        .filter_map(|entry| {
            let data = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((data.modified().ok()?, data.len(), entry.path()))
        })
        .collect();
    let mut total: u64 = entries.iter().map(|entry| entry.1).sum();
    if total <= limit_bytes {
        return;
    }
    entries.sort();
    for (_, size_bytes, path) in entries {
        if total <= limit_bytes / 5 * 4 {
            break;
        }
        // Gone already: another process evicts too.
        let _ = fs::remove_file(&path);
        total -= size_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("pumice-test-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn key(text: &str) -> Key {
        KeyBuilder::new("test").field(text.as_bytes()).finish()
    }

    #[test]
    fn what_is_put_is_got() {
        let scratch = Scratch::new("roundtrip");
        let cache = DiskCache::new(scratch.0.clone(), 1 << 20);
        assert_eq!(cache.get(key("a")), None);
        cache.put(key("a"), b"contents");
        cache.put(key("b"), b"");
        assert_eq!(cache.get(key("a")).as_deref(), Some(&b"contents"[..]));
        assert_eq!(cache.get(key("b")).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn damaged_entries_are_misses() {
        let scratch = Scratch::new("damage");
        let cache = DiskCache::new(scratch.0.clone(), 1 << 20);
        cache.put(key("a"), b"contents");
        let path = cache.entry_path(key("a")).unwrap();
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(cache.get(key("a")), None, "cut to {length}");
        }
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 0x40;
            fs::write(&path, &changed).unwrap();
            assert_eq!(cache.get(key("a")), None, "changed at {place}");
        }
    }

    #[test]
    fn the_oldest_are_evicted() {
        let scratch = Scratch::new("evict");
        let cache = DiskCache::new(scratch.0.clone(), 10_000);
        for number in 0..20u64 {
            cache.put(key(&number.to_string()), &[0; 1000]);
            let file = fs::File::open(cache.entry_path(key(&number.to_string())).unwrap()).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number + 1))
                .unwrap();
        }
        evict(&scratch.0, 10_000);
        assert_eq!(cache.get(key("0")), None);
        assert!(cache.get(key("19")).is_some());
        let total: u64 = fs::read_dir(&scratch.0)
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum();
        assert!(total <= 8_000, "{total}");
    }

    #[test]
    fn writers_at_once_leave_whole_entries() {
        let scratch = Scratch::new("writers");
        let caches: Vec<DiskCache> = (0..4)
            .map(|_| DiskCache::new(scratch.0.clone(), 1 << 24))
            .collect();
        std::thread::scope(|scope| {
            for cache in &caches {
                scope.spawn(move || {
                    for round in 0..50u8 {
                        cache.put(key("same"), &[round; 4096]);
                        if let Some(payload) = cache.get(key("same")) {
                            assert!(
                                payload.len() == 4096 && payload.windows(2).all(|w| w[0] == w[1])
                            );
                        }
                    }
                });
            }
        });
        assert!(caches[0].get(key("same")).is_some());
    }

    #[test]
    fn a_disabled_cache_keeps_nothing() {
        let cache = DiskCache::disabled();
        cache.put(key("a"), b"x");
        assert_eq!(cache.get(key("a")), None);
        assert_eq!(cache.root(), None);
    }

    #[test]
    fn words_are_hashed_as_their_bytes() {
        let words: Vec<u32> = (0..3000u32)
            .map(|word| word.wrapping_mul(0x9e37_79b9))
            .collect();
        let bytes = words::to_bytes(&words);
        let key = KeyBuilder::new("t").words(&words).finish();
        assert_eq!(key, KeyBuilder::new("t").field(&bytes).finish());
    }

    #[test]
    fn fields_do_not_run_together() {
        let ab = KeyBuilder::new("t").field(b"ab").field(b"c").finish();
        let bc = KeyBuilder::new("t").field(b"a").field(b"bc").finish();
        assert_ne!(ab, bc);
    }
}
