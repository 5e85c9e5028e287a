//! Assembly: the TLS provider, the arguments, the threads, an exit code.

use clap::Parser;
use std::io;
use tikv_jemallocator::Jemalloc;
use tokio::runtime::{Builder, Runtime};
use webhook::Args;

/// Gives memory back when a flood is over.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> anyhow::Result<()> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("a TLS provider is installed already"))?;
    let args = Args::parse();
    // Nothing that is judged for gates can hold up admission, which has threads of its own.
    let (admission, rest) = (runtime("admission", Some(2))?, runtime("rest", None)?);
    rest.block_on(args.run(admission.handle().clone()))
}

/// So many threads, or one for each processor.
fn runtime(name: &str, threads: Option<usize>) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    threads.map(|threads| builder.worker_threads(threads));
    builder.thread_name(name).enable_all().build()
}
