//! Every block of the documentation is run, applied or compared as it stands on its page; `blocks` names the runner of each.

mod applied; // manifests, and commands that need an API server
mod architecture; // what ARCHITECTURE.md says of the code
mod blocks; // what a block of a page is
mod claims; // what a page says of the code
mod engine; // commands that need a container engine
mod found; // what a reader searches for
mod home; // the addresses of what is published, and the pages before anything is
pub(crate) mod library; // the files of the health library, and their table
mod links; // where links lead, and what is in the book
mod numbers; // numbers that pages repeat, and the constants that they are
pub(crate) mod runner; // runs the blocks of a page
mod stages; // commands that a stage of `make test` runs

use std::path::{Path, PathBuf};

pub(crate) use blocks::{Block, Kind, Stage, blocks, has};

pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().expect("the workspace is above")
}

fn read(path: &Path) -> String {
    let path = path.canonicalize().expect("a file of ours");
    std::fs::read_to_string(path).expect("text")
}

/// Returns the path of each file in the folder `docs`, without those in its folders.
fn folder() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).expect("docs is a folder");
    let paths = docs.map(|entry| entry.expect("readable").path());
    // The pictures are in a folder.
    paths.filter(|path| path.is_file()).collect()
}

pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages = folder();
    let examples = ["shop", "umbrella", "seeds"].map(|it| format!("examples/{it}/README.md"));
    let others = [
        "README.md",
        "CONTRIBUTING.md",
        "CODE_OF_CONDUCT.md",
        "GOVERNANCE.md",
        "ROADMAP.md",
        "certs/CERTIFICATES.md",
        "charts/PLATFORMS.md",
        "cli/FINDINGS.md",
        "cli/JSON.md",
        "cli/SUGGEST.md",
        "rules/RULES.md",
        "rules/TIMES.md",
        "tests/THREATS.md",
        "tests/bench/README.md",
        "webhook/BOUNDS.md",
        "webhook/CREATIONS.md",
        "webhook/KUEUE.md",
    ];
    let others = others.map(str::to_owned);
    let others = others.into_iter().chain(examples);
    pages.extend(others.map(|page| root().join(page)));
    pages.sort();
    pages
}
