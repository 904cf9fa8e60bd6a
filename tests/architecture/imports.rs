//! What the modules of `src/` import from each other, by their own text: `use` and paths that begin with `crate`, `super` or
//! `self`. What only tests see is left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A module's path below the crate, `["runtime", "queue"]`; the crate itself is empty.
pub type Module = Vec<String>;

/// One module names something of another one.
pub struct Import {
    pub from: Module,
    pub to: Module,
    pub file: PathBuf,
    pub line: usize,
}

impl fmt::Display for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line) = (self.file.display(), self.line);
        write!(
            f,
            "{file}:{line}: {} imports {}",
            self.from.join("::"),
            self.to.join("::")
        )
    }
}

/// A file of the crate.
struct File {
    path: PathBuf,
    tree: syn::File,
}

/// The paths of the crate's files, from `root` on, and their texts.
pub fn texts(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(folder).expect("the folder is there");
        for entry in entries.map(|entry| entry.expect("the folder is read").path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&entry).expect("the file is read");
                let below = entry.strip_prefix(root).expect("it lies below");
                found.push((below.to_string_lossy().into_owned(), text));
            }
        }
    }
    found
}

/// All imports of the crate whose root file is `root/lib.rs`, and its modules.
pub fn all(root: &Path) -> (Vec<Import>, Vec<Module>) {
    let mut files = BTreeMap::new();
    read(root, root, &mut files);
    let mut reexports = HashMap::new();
    for (module, file) in &files {
        for (path, name, _) in uses(&file.tree, true) {
            reexports.insert((module.clone(), name), path);
        }
    }
    let names = Names {
        modules: files.keys().cloned().collect(),
        reexports,
    };
    let mut imports = Vec::new();
    for (from, file) in &files {
        let mut found: Vec<(Vec<String>, usize)> = uses(&file.tree, false)
            .into_iter()
            .map(|(path, _, line)| (path, line))
            .collect();
        let mut paths = Paths(Vec::new());
        paths.visit_file(&file.tree);
        found.extend(paths.0);
        for (path, line) in found {
            let Some(to) = names.module_of(from, &path) else {
                continue;
            };
            if to != *from {
                let below = file.path.strip_prefix(root).unwrap_or(&file.path);
                let (from, file) = (from.clone(), Path::new("src").join(below));
                imports.push(Import {
                    from,
                    to,
                    file,
                    line,
                });
            }
        }
    }
    (imports, names.modules)
}

/// The modules that files of the crate declare.
pub fn declared(root: &Path) -> BTreeSet<Module> {
    let mut files = BTreeMap::new();
    read(root, root, &mut files);
    let declared = files.iter().flat_map(|(module, file)| {
        let names = file.tree.items.iter().filter_map(|item| match item {
            syn::Item::Mod(it) if it.content.is_none() => Some(it.ident.to_string()),
            _ => None,
        });
        names.map(|name| [module.as_slice(), &[name]].concat())
    });
    declared.collect()
}

/// Reads the files of a folder; a module's name is that of its file, or of its folder.
fn read(root: &Path, folder: &Path, files: &mut BTreeMap<Module, File>) {
    let entries = fs::read_dir(folder).expect("the folder is there");
    for entry in entries.map(|entry| entry.expect("the folder is read").path()) {
        if entry.is_dir() {
            read(root, &entry, files);
        }
        if entry.extension().is_none_or(|it| it != "rs") {
            continue;
        }
        let text = fs::read_to_string(&entry).expect("the file is read");
        let tree = syn::parse_file(&text).expect("it is Rust");
        let below = entry
            .strip_prefix(root)
            .expect("it lies below")
            .with_extension("");
        let mut module: Module = below
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
            module.pop();
        }
        let is_for_tests = module.last().is_some_and(|name| {
            name == "tests" || name.starts_with("test") || name.ends_with("_tests")
        });
        if !is_for_tests && module.first().is_none_or(|room| room != "bin") {
            files.insert(module, File { path: entry, tree });
        }
    }
}

/// What paths lead to.
struct Names {
    modules: Vec<Module>,
    /// A module, the name that it hands on, and the path that the name stands for.
    reexports: HashMap<(Module, String), Vec<String>>,
}

impl Names {
    /// The module that a path within `from` leads into; `None` for another crate's.
    fn module_of(&self, from: &Module, path: &[String]) -> Option<Module> {
        let mut module = from.clone();
        let mut rest = path.iter();
        match rest.next()?.as_str() {
            "crate" => module.clear(),
            "self" => {}
            "super" => drop(module.pop()),
            name => {
                module.push(name.to_owned());
                if !self.modules.contains(&module) {
                    return None;
                }
            }
        }
        while let Some(name) = rest.next() {
            if name == "super" {
                module.pop();
                continue;
            }
            let mut below = module.clone();
            below.push(name.clone());
            if self.modules.contains(&below) {
                module = below;
            } else if let Some(path) = self.reexports.get(&(module.clone(), name.clone())) {
                let further: Vec<String> = path.iter().chain(rest).cloned().collect();
                return self.module_of(&module, &further);
            } else {
                break;
            }
        }
        Some(module)
    }
}

/// The paths of a file's `use` items, the name that each gives to what it leads to, and the line.
fn uses(file: &syn::File, only_public: bool) -> Vec<(Vec<String>, String, usize)> {
    let mut found = Vec::new();
    for item in &file.items {
        if let syn::Item::Use(item) = item
            && !is_for_tests(&item.attrs)
            && !(only_public && matches!(item.vis, syn::Visibility::Inherited))
        {
            expand(&item.tree, &mut Vec::new(), &mut found);
        }
    }
    found
}

fn expand(
    tree: &syn::UseTree,
    before: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, String, usize)>,
) {
    let mut add = |name: String, shown: String, line: usize| {
        let mut path = before.clone();
        path.push(name);
        found.push((path, shown, line));
    };
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            expand(&path.tree, before, found);
            before.pop();
        }
        syn::UseTree::Name(name) => {
            let line = name.span().start().line;
            add(name.ident.to_string(), name.ident.to_string(), line);
        }
        syn::UseTree::Rename(name) => {
            let line = name.span().start().line;
            add(name.ident.to_string(), name.rename.to_string(), line);
        }
        syn::UseTree::Glob(glob) => add("*".to_owned(), String::new(), glob.span().start().line),
        syn::UseTree::Group(group) => {
            for tree in &group.items {
                expand(tree, before, found);
            }
        }
    }
}

/// Paths in the code of a file.
struct Paths(Vec<(Vec<String>, usize)>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // Of modules within a file only those of tests are imported from the file itself.
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let first = path.segments.first().map(|first| first.ident.to_string());
        if matches!(first.as_deref(), Some("crate" | "super" | "self")) && path.segments.len() > 1 {
            let names = path
                .segments
                .iter()
                .map(|segment| segment.ident.to_string());
            self.0.push((names.collect(), path.span().start().line));
        }
        visit::visit_path(self, path);
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        attribute.path().is_ident("cfg")
            && list.is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}

/// What is kept for the whole process or for a thread, other than for tests: the file of each, and its name.
pub fn state(root: &Path) -> Vec<(PathBuf, String)> {
    let mut files = BTreeMap::new();
    read(root, root, &mut files);
    let of_file = |file: File| {
        let mut statics = Statics(Vec::new());
        statics.visit_file(&file.tree);
        let names = statics.0.into_iter();
        names
            .map(|name| (file.path.clone(), name))
            .collect::<Vec<_>>()
    };
    files.into_values().flat_map(of_file).collect()
}

/// The names of a type's methods, those of traits and those for tests aside.
pub fn methods(root: &Path, of: &str) -> Vec<String> {
    let mut files = BTreeMap::new();
    read(root, root, &mut files);
    let mut found = Vec::new();
    for item in files.into_values().flat_map(|file| file.tree.items) {
        let syn::Item::Impl(block) = item else {
            continue;
        };
        let is_its_own = block.trait_.is_none()
            && matches!(&*block.self_ty, syn::Type::Path(it) if it.path.is_ident(of));
        for item in block.items.iter().filter(|_| is_its_own) {
            if let syn::ImplItem::Fn(method) = item
                && !is_for_tests(&method.attrs)
            {
                found.push(method.sig.ident.to_string());
            }
        }
    }
    found
}

struct Statics(Vec<String>);

impl<'ast> Visit<'ast> for Statics {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.0.push(item.ident.to_string());
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        if item.path.is_ident("thread_local") {
            let text = item.tokens.to_string();
            let names = text.split("static ").skip(1);
            let names = names.filter_map(|rest| rest.split([' ', ':']).next());
            self.0.extend(names.map(str::to_owned));
        }
    }
}
