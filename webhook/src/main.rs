//! Sets up the TLS provider, the arguments and the threads, and returns an exit code.

use clap::Parser;
use rustix::process::setpriority_process;
use std::io;
use tikv_jemallocator::Jemalloc;
use tokio::runtime::{Builder, Runtime};
use webhook::Args;

/// The allocator of the process, jemalloc: it returns memory to the system after a flood of requests.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> anyhow::Result<()> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("a TLS provider is installed already"))?;
    let args = Args::parse();
    // Admission has threads of its own at a higher priority, so judging for gates does not delay it.
    let (admission, rest) = (runtime("admission", Some(2), 0)?, runtime("rest", None, 5)?);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    rest.block_on(args.run(&arguments.join(" "), admission.handle().clone()))
}

/// Builds a runtime with so many threads, or with one for each processor where `threads` is `None`. Its threads run at this niceness, as far as the
/// system allows.
fn runtime(name: &str, threads: Option<usize>, nice: i32) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    threads.map(|threads| builder.worker_threads(threads));
    builder.on_thread_start(move || {
        // Linux sets the niceness of the calling thread alone. A refused call leaves the thread at normal priority.
        let _ = setpriority_process(None, nice);
    });
    builder.thread_name(name).enable_all().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The niceness of a runtime's threads: the 19th field of `stat`. The name in the second field may hold blanks.
    fn nice(runtime: &Runtime) -> String {
        let stat = runtime.spawn(async { std::fs::read_to_string("/proc/thread-self/stat") });
        let stat = runtime.block_on(stat).unwrap().unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        fields.split(' ').nth(16).unwrap().to_owned()
    }

    #[test]
    fn one_runtime_gives_way_to_another() {
        let ours = runtime("admission", Some(1), 0).unwrap();
        let nicer = runtime("rest", Some(1), 5).unwrap();
        assert_eq!([nice(&ours), nice(&nicer)], ["0", "5"]);
    }
}
