//! What a driver said of all kernels.

use std::collections::BTreeMap;
use std::time::Duration;

/// Kernels that take longer are told of.
const SLOW_SECONDS: f64 = 10.0;

/// What became of a kernel, or of a program.
pub enum Outcome {
    /// So many seconds of a processor in the driver's compiler.
    Compiled(f64),
    /// The driver makes no pipeline of it.
    Refused(String),
    /// It needs more than the device has: Pumice refuses it.
    Excess(String),
    /// The program does not build for what the device has.
    Unbuilt(String),
    /// The process ended.
    Crashed(String),
    /// It was not compiled when patience was at its end.
    GivenUp(Duration),
}

#[derive(Default)]
pub struct Report {
    /// The device's name, and its driver's.
    pub device: Option<String>,
    /// Those that were gone through.
    pub programs: usize,
    compiled: usize,
    slowest: (f64, String),
    refused: usize,
    crashed: usize,
    slow: usize,
    /// Kernels, by what they need more of than there is.
    excess: BTreeMap<String, Vec<String>>,
    /// Programs, by why they are not built.
    unbuilt: BTreeMap<String, Vec<String>>,
}

impl Report {
    /// Counts what became of a kernel of a program, or of its build, and prints it if it is a fault.
    pub fn add(&mut self, program: &str, kernel: Option<&str>, outcome: Outcome) {
        let name = format!("{program}: {}", kernel.unwrap_or("its build"));
        match outcome {
            Outcome::Compiled(seconds) => {
                self.compiled += 1;
                if seconds > SLOW_SECONDS {
                    self.slow += 1;
                    println!("{seconds:.1} s: {name}");
                }
                if seconds > self.slowest.0 {
                    self.slowest = (seconds, name);
                }
            }
            Outcome::Refused(reason) => {
                self.refused += 1;
                println!("refused: {name}: {reason}");
            }
            Outcome::Crashed(reason) => {
                self.crashed += 1;
                println!("crashed: {name}: {reason}");
            }
            Outcome::GivenUp(patience) => {
                self.slow += 1;
                println!("given up after {patience:?}: {name}");
            }
            Outcome::Excess(reason) => self.excess.entry(reason).or_default().push(name),
            Outcome::Unbuilt(reason) => {
                let programs = self.unbuilt.entry(reason).or_default();
                programs.push(program.to_owned());
            }
        }
    }

    /// Whether something was compiled, and nothing refused, and nothing took long or ended the process.
    pub fn is_well(&self) -> bool {
        self.compiled > 0 && self.refused + self.crashed + self.slow == 0
    }

    /// Prints what is no fault, and the counts.
    pub fn print(&self) {
        for (reason, programs) in &self.unbuilt {
            let first = programs.first().map_or("", String::as_str);
            println!(
                "not built: {} programs, {first} for one: {reason}",
                programs.len()
            );
        }
        for (reason, kernels) in &self.excess {
            let first = kernels.first().map_or("", String::as_str);
            println!(
                "too large: {} kernels, {first} for one: {reason}",
                kernels.len()
            );
        }
        let device = self.device.as_deref().unwrap_or("no device");
        let sum = |all: &BTreeMap<String, Vec<String>>| all.values().map(Vec::len).sum::<usize>();
        let (unbuilt, excess) = (sum(&self.unbuilt), sum(&self.excess));
        println!(
            "{device}: {} kernels of {} programs compiled; {} refused, {} crashed, {} slow; {unbuilt} programs not built, {excess} kernels \
             too large; slowest {:.2} s ({})",
            self.compiled,
            self.programs,
            self.refused,
            self.crashed,
            self.slow,
            self.slowest.0,
            self.slowest.1,
        );
    }
}
