//! Assembly: the TLS provider, the arguments, the threads, an exit code.

use clap::Parser;
use rustix::process::setpriority_process;
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
    // Nothing that is judged for gates can hold up admission, which has threads of its own, and the first right to a processor.
    let (admission, rest) = (runtime("admission", Some(2), 0)?, runtime("rest", None, 5)?);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    rest.block_on(args.run(&arguments.join(" "), admission.handle().clone()))
}

/// So many threads, or one for each processor, which are so nice to all others.
fn runtime(name: &str, threads: Option<usize>, nice: i32) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    threads.map(|threads| builder.worker_threads(threads));
    builder.on_thread_start(move || {
        // Linux takes it for the calling thread alone. Who is refused it is as nice as everybody.
        let _ = setpriority_process(None, nice);
    });
    builder.thread_name(name).enable_all().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How nice the threads of a runtime are: the 19th field, and the name in the second may hold blanks.
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
