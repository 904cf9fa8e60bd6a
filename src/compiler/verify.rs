//! Checks a function against the rules of the IR and of a stage.
