//! Whether a program declares functions under the names of built-in ones.
//!
//! Where it does, clang's table of built-ins ([`super::built_ins`]) is not asked for those names any more: `max` of a
//! structure hides `max(int, int)`, and a call with integers converts them to what there is. What the program declares
//! is known for certain after parsing only; here a text is searched for what may be such a declaration, at the cost of
//! reading it once. One that is none costs the time of clang's full header, and nothing else.
//!
//! Functions are declared outside of functions: there the name of a built-in is one, and so is a macro that expands to
//! one or puts names together, and one that is given one.

use std::collections::{HashMap, HashSet};

use super::tokens::{Token, Tokens};

/// The language of a text, and what it has of others.
pub struct Question<'a> {
    /// OpenCL C, where only braces of functions, types and initializers can be open; C++ has namespaces.
    pub is_c: bool,
    /// Whether a built-in function has this name.
    pub is_built_in: &'a dyn Fn(&str) -> bool,
    /// Whether a file that line markers name is not the program's.
    pub is_ours: &'a dyn Fn(&str) -> bool,
}

impl Question<'_> {
    /// Whether a text, preprocessed or not, may declare a function under the name of a built-in one.
    pub fn may_declare(&self, text: &str) -> bool {
        let macros = Macros::of(text, self.is_built_in);
        macros.hide_braces || Scan::new(self, macros).finds(text)
    }
}

/// The macros that a text defines.
struct Macros<'a> {
    names: HashSet<&'a str>,
    /// Those that may become the name of a built-in function.
    suspicious: HashSet<&'a str>,
    /// Whether one opens or closes what it does not close or open.
    hide_braces: bool,
}

impl<'a> Macros<'a> {
    fn of(text: &'a str, is_built_in: &dyn Fn(&str) -> bool) -> Self {
        let mut bodies: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut macros = Self {
            names: HashSet::new(),
            suspicious: HashSet::new(),
            hide_braces: false,
        };
        let directives = Tokens::of(text).filter_map(|token| match token {
            Token::Directive(text) => definition(text),
            _ => None,
        });
        for (name, body) in directives {
            let mut depths = [0_i32; 2];
            let mut last = None;
            for token in Tokens::of_line(body) {
                match token {
                    Token::Word(word) => bodies.entry(name).or_default().push(word),
                    Token::Punctuation(b'{') => depths[0] += 1,
                    Token::Punctuation(b'}') => depths[0] -= 1,
                    Token::Punctuation(b'(') => depths[1] += 1,
                    Token::Punctuation(b')') => depths[1] -= 1,
                    Token::Punctuation(b'#') if last == Some(token) => {
                        macros.suspicious.insert(name);
                    }
                    _ => {}
                }
                last = Some(token);
            }
            macros.hide_braces |= depths != [0; 2];
            macros.names.insert(name);
        }
        let is_bad = |macros: &Self, words: &[&str]| {
            let mut words = words.iter();
            words.any(|word| is_built_in(word) || macros.suspicious.contains(word))
        };
        loop {
            let bad = bodies.iter().filter(|(name, words)| {
                !macros.suspicious.contains(*name) && is_bad(&macros, words)
            });
            let bad: Vec<&str> = bad.map(|(name, _)| *name).collect();
            if bad.is_empty() {
                return macros;
            }
            macros.suspicious.extend(bad);
        }
    }
}

/// Name and body of a macro that a directive defines.
fn definition(directive: &str) -> Option<(&str, &str)> {
    let rest = directive.trim_start_matches(['#', ' ', '\t']);
    let rest = rest.strip_prefix("define")?.trim_start();
    let end = |c: char| !(c.is_alphanumeric() || c == '_' || c == '$');
    let (name, rest) = rest.split_at(rest.find(end).unwrap_or(rest.len()));
    // Parameters are not what the macro becomes.
    let body = match rest.strip_prefix('(') {
        Some(parameters) => parameters.split_once(')').map_or("", |(_, body)| body),
        None => rest,
    };
    Some((name, body))
}

/// One way through a text.
struct Scan<'q, 'a> {
    question: &'q Question<'q>,
    macros: Macros<'a>,
    /// Open braces, outermost first: whether what is declared in them is declared for others.
    braces: Vec<bool>,
    parentheses: usize,
    /// What was open where conditionals that are open began.
    conditionals: Vec<(Vec<bool>, usize)>,
    /// Whether the parentheses are the arguments of a macro.
    in_macro: bool,
    /// Whether the last brace, if one comes next, is a namespace's.
    opens_namespace: bool,
    /// Whether the text at hand is not the program's.
    is_ours: bool,
}

impl<'q, 'a> Scan<'q, 'a> {
    fn new(question: &'q Question<'q>, macros: Macros<'a>) -> Self {
        Self {
            question,
            macros,
            braces: Vec::new(),
            parentheses: 0,
            conditionals: Vec::new(),
            in_macro: false,
            opens_namespace: false,
            is_ours: false,
        }
    }

    fn finds(mut self, text: &str) -> bool {
        let mut tokens = Tokens::of(text).peekable();
        let mut last = None;
        while let Some(token) = tokens.next() {
            match token {
                Token::Directive(text) => self.directive(text),
                _ if self.is_ours => {}
                Token::Word(word) => {
                    if self.declares(word, last, tokens.peek().copied()) {
                        return true;
                    }
                }
                Token::Punctuation(mark) => self.mark(mark),
                Token::Literal => {}
            }
            last = Some(token);
        }
        false
    }

    fn directive(&mut self, text: &str) {
        let text = text.trim_start_matches(['#', ' ', '\t']);
        if text.starts_with("if") {
            self.conditionals
                .push((self.braces.clone(), self.parentheses));
        } else if text.starts_with("el") {
            if let Some((braces, parentheses)) = self.conditionals.last() {
                (self.braces, self.parentheses) = (braces.clone(), *parentheses);
            }
        } else if text.starts_with("endif") {
            self.conditionals.pop();
        } else if text.starts_with(|c: char| c.is_ascii_digit()) {
            let file = text.split('"').nth(1).unwrap_or_default();
            self.is_ours = (self.question.is_ours)(file);
        }
    }

    fn mark(&mut self, mark: u8) {
        match mark {
            b'(' | b'[' => self.parentheses += 1,
            b')' | b']' => self.parentheses = self.parentheses.saturating_sub(1),
            b'{' => self.braces.push(self.opens_namespace),
            b'}' => drop(self.braces.pop()),
            _ => {}
        }
        if matches!(mark, b'{' | b'}' | b';') {
            self.opens_namespace = false;
        }
        if self.parentheses == 0 {
            self.in_macro = false;
        }
    }

    /// Whether a word may be the name that a declaration gives.
    fn declares(&mut self, word: &str, last: Option<Token<'_>>, next: Option<Token<'_>>) -> bool {
        if !self.braces.iter().all(|is_open| *is_open) {
            return false;
        }
        let is_built_in = (self.question.is_built_in)(word);
        let is_name = is_built_in || self.macros.suspicious.contains(word);
        if self.parentheses > 0 {
            // `int (max)(S a)`
            let is_in_parentheses = last == Some(Token::Punctuation(b'('))
                && matches!(next, Some(Token::Punctuation(b'(' | b')')));
            return is_name && self.in_macro || is_built_in && is_in_parentheses;
        }
        self.in_macro = self.macros.names.contains(word);
        let is_outer =
            word == "namespace" || word == "extern" && matches!(next, Some(Token::Literal));
        self.opens_namespace |= is_outer && !self.question.is_c;
        is_name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_declare(text: &str, is_c: bool) -> bool {
        let question = Question {
            is_c,
            is_built_in: &|name| ["max", "length", "atom_add"].contains(&name),
            is_ours: &|file| file == "<pumice>",
        };
        question.may_declare(text)
    }

    #[test]
    fn declarations_are_found() {
        for text in [
            "S __attribute__((overloadable)) max(S a, S b) { return a; }",
            "static inline float\nlength(S s);",
            "int (max)(S a, S b);",
            "#define OP(x) atom_##x\nulong OP(add)(global ulong *p, ulong v) { return 0; }",
            "#define FIRST max\n#define NAME FIRST\nint NAME(S a) { return 0; }",
            "#define MAKE(T) T max(T a, T b) { return a; }\nMAKE(S)",
            "#define FUNCTION(name) int name(S a)\nFUNCTION(max) { return 0; }",
            "#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nint max(S a);",
            "#define BEGIN {\nvoid f() BEGIN }",
            "/* } */ // {\nconstant char c = '{'; constant char s[] = \"{\"; int max(S a);",
            "int \\\nmax(S a);",
        ] {
            assert!(may_declare(text, true), "{text}");
        }
    }

    #[test]
    fn uses_are_not_declarations() {
        for text in [
            "kernel void k(global int *p, int length) { p[0] = max(p[1], p[2]) * max (1, 2); }",
            "#define CLAMP(x) max((x), 0)\nkernel void k(global int *p) { *p = CLAMP(*p); }",
            "struct S { float length; };\nenum E { max };",
            "// int max(S a);\n/* int max(S a); */\nconstant char s[] = \"int max(S);\";",
            "int maximum(S a); int length2(S a);",
            "# 1 \"<pumice>\" 3\nint max(S a);\n# 1 \"source\"\nint f(S a);",
            "#define PASTE(a, b) a##b\nkernel void k(global int *p) { *p = PASTE(m, ax)(1, 2); }",
        ] {
            assert!(!may_declare(text, true), "{text}");
        }
    }

    #[test]
    fn namespaces_are_looked_into() {
        let text =
            "namespace a { namespace b { int max(S a) { return 0; } } } using namespace a::b;";
        assert!(may_declare(text, false));
        assert!(may_declare("extern \"C\" { int max(S); }", false));
        assert!(!may_declare(
            "namespace a { void f() { max(1, 2); } }",
            false
        ));
    }
}
