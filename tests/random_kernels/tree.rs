//! The text of a kernel as a tree, of which parts can be taken away.

use crate::types::Type;

/// A part of an expression or a statement.
#[derive(Clone)]
pub enum Piece {
    Text(String),
    Expr(Expr),
    Block(Vec<Stmt>),
}

/// An expression of exactly this type (no integer promotion is pending), without side effects.
#[derive(Clone)]
pub struct Expr {
    pub ty: Type,
    pub pieces: Vec<Piece>,
    /// Without it the kernel is no longer well defined, as it keeps an index within its array or a shift within its type:
    /// nothing takes its place.
    pub pinned: bool,
}

/// A statement, a declaration or a function.
#[derive(Clone)]
pub struct Stmt {
    pub pieces: Vec<Piece>,
    /// Without it the kernel is no longer well defined: it stays where its block stays.
    pub pinned: bool,
}

/// Splits a template at each `@`, where the operands go.
fn fill(template: &str, operands: impl IntoIterator<Item = Piece>) -> Vec<Piece> {
    let mut operands = operands.into_iter();
    let mut pieces = Vec::new();
    for (at, text) in template.split('@').enumerate() {
        if at > 0 {
            pieces.push(operands.next().expect("an operand for each @"));
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text.into()));
        }
    }
    assert!(
        operands.next().is_none(),
        "{template}: an @ for each operand"
    );
    pieces
}

impl Expr {
    /// `@` in the template stands for the operands, in order.
    pub fn new(ty: Type, template: &str, operands: impl IntoIterator<Item = Expr>) -> Self {
        Self {
            ty,
            pieces: fill(template, operands.into_iter().map(Piece::Expr)),
            pinned: false,
        }
    }

    pub fn pinned(mut self) -> Self {
        self.pinned = true;
        self
    }
}

impl Stmt {
    /// `@` in the template stands for the expressions and blocks, in order.
    pub fn new(template: &str, operands: impl IntoIterator<Item = Piece>) -> Self {
        Self {
            pieces: fill(template, operands),
            pinned: false,
        }
    }

    pub fn pinned(mut self) -> Self {
        self.pinned = true;
        self
    }
}

fn print_pieces(pieces: &[Piece], depth: usize, text: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Text(one) => text.push_str(one),
            Piece::Expr(expr) => print_pieces(&expr.pieces, depth, text),
            Piece::Block(block) => {
                text.push_str("{\n");
                print(block, depth + 1, text);
                text.push_str(&"    ".repeat(depth));
                text.push('}');
            }
        }
    }
}

/// The text of statements, each on its line.
pub fn print(block: &[Stmt], depth: usize, text: &mut String) {
    for stmt in block {
        text.push_str(&"    ".repeat(depth));
        print_pieces(&stmt.pieces, depth, text);
        text.push('\n');
    }
}

/// A smaller kernel than the one it is applied to; both count in the order of the text.
#[derive(Clone, Copy, Debug)]
pub enum Edit {
    /// Takes statements `from..from + count` out of a block.
    Drop {
        block: usize,
        from: usize,
        count: usize,
    },
    /// Puts a constant in an expression's place.
    Constant { expr: usize },
    /// Puts its operand in an expression's place.
    Operand { expr: usize, operand: usize },
}

/// What there is to take away, the largest parts first.
pub fn edits(program: &[Stmt]) -> Vec<Edit> {
    let mut found = Survey::default();
    found.block(program);
    let mut drops = Vec::new();
    for (block, &len) in found.blocks.iter().enumerate() {
        let mut count = len;
        while count > 0 {
            let places = (0..len).step_by(count);
            drops.extend(places.map(|from| Edit::Drop { block, from, count }));
            count /= 2;
        }
    }
    drops.sort_by_key(|edit| match edit {
        Edit::Drop { count, .. } => std::cmp::Reverse(*count),
        _ => std::cmp::Reverse(0),
    });
    let exprs = found.exprs.iter().enumerate();
    drops.extend(exprs.flat_map(|(expr, operands)| {
        let constant = (*operands > 0).then_some(Edit::Constant { expr });
        let operands = (0..*operands).map(move |operand| Edit::Operand { expr, operand });
        constant.into_iter().chain(operands)
    }));
    drops
}

/// The lengths of all blocks, and of each expression the number of operands that may take its place.
#[derive(Default)]
struct Survey {
    blocks: Vec<usize>,
    exprs: Vec<usize>,
}

impl Survey {
    fn block(&mut self, block: &[Stmt]) {
        self.blocks.push(block.len());
        block.iter().for_each(|stmt| self.pieces(&stmt.pieces));
    }

    fn pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Text(_) => {}
                Piece::Expr(expr) => {
                    let operands = expr.pieces.iter().filter(|p| matches!(p, Piece::Expr(_)));
                    self.exprs
                        .push(if expr.pinned { 0 } else { operands.count() });
                    self.pieces(&expr.pieces);
                }
                Piece::Block(block) => self.block(block),
            }
        }
    }
}

/// Applies an edit; `None` where it would change nothing, or is not allowed.
pub fn apply(program: &[Stmt], edit: Edit) -> Option<Vec<Stmt>> {
    let mut program = program.to_vec();
    let mut editor = Editor {
        edit,
        blocks: 0,
        exprs: 0,
        changed: false,
    };
    editor.block(&mut program);
    editor.changed.then_some(program)
}

struct Editor {
    edit: Edit,
    blocks: usize,
    exprs: usize,
    changed: bool,
}

impl Editor {
    fn block(&mut self, block: &mut Vec<Stmt>) {
        let this = self.blocks;
        self.blocks += 1;
        for stmt in block.iter_mut() {
            self.pieces(&mut stmt.pieces);
        }
        if let Edit::Drop {
            block: at,
            from,
            count,
        } = self.edit
            && at == this
        {
            let before = block.len();
            let mut index = 0;
            block.retain(|stmt| {
                let within = (from..from + count).contains(&index);
                index += 1;
                !within || stmt.pinned
            });
            self.changed = block.len() != before;
        }
    }

    fn pieces(&mut self, pieces: &mut [Piece]) {
        for piece in pieces {
            match piece {
                Piece::Text(_) => {}
                Piece::Expr(expr) => self.expr(expr),
                Piece::Block(block) => self.block(block),
            }
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        let this = self.exprs;
        self.exprs += 1;
        match self.edit {
            Edit::Constant { expr: at } if at == this => {
                let text = format!("(({})1)", expr.ty.name());
                expr.pieces = vec![Piece::Text(text)];
                self.changed = true;
            }
            Edit::Operand { expr: at, operand } if at == this => {
                let mut operands = expr.pieces.iter().filter_map(|piece| match piece {
                    Piece::Expr(expr) => Some(expr),
                    _ => None,
                });
                if let Some(chosen) = operands.nth(operand)
                    && chosen.ty == expr.ty
                {
                    *expr = chosen.clone();
                    self.changed = true;
                }
            }
            _ => self.pieces(&mut expr.pieces),
        }
    }
}
