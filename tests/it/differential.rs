//! Compares the rules with the libraries that they follow, on manifests that no person would write.
//!
//! `tests/differential` holds small Go programs around the real libraries; they read cases and write results as JSON
//! lines. The cases are made from a seed, which is printed: `SLUICE_SEED=… SLUICE_CASES=… cargo test --workspace
//! differential` repeats a run, or makes it longer.

#![expect(
    clippy::unwrap_used,
    reason = "a library that cannot be built or asked fails its test"
)]

mod fluxcel;
mod generator;
mod jsonpath;
mod kstatus;
mod library;
pub(crate) mod random;
mod yaml;

pub(crate) use random::Random;

/// The seed of the cases where `SLUICE_SEED` is not set. It is fixed, so every run has the same cases and a failure comes from a change of the code.
const SEED: u64 = 20_261_121;

/// Returns the random numbers of the run and the number of its cases: `cases`, unless `SLUICE_CASES` says another. Prints both variables.
pub(crate) fn run(cases: usize) -> (Random, usize) {
    let number = |name| std::env::var(name).ok()?.parse::<u64>().ok();
    let seed = number("SLUICE_SEED").unwrap_or(SEED);
    let cases = number("SLUICE_CASES").map_or(cases, |it| usize::try_from(it).unwrap_or(cases));
    eprintln!("SLUICE_SEED={seed} SLUICE_CASES={cases}");
    (Random::new(seed), cases)
}
