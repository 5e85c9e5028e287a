//! `ui`: a page on loopback that shows the graph of a namespace while it changes, read with the caller's own rights.

mod browser;
mod feed;
mod guard;
mod news;
mod page;
mod server;
mod sight;
mod subject;

use anyhow::{Context, Result, anyhow};
pub(crate) use browser::Seat;
use feed::Feeds;
use futures::FutureExt;
use guard::Guard;
use kube::Client;
use std::net::Ipv4Addr;
use std::pin::pin;
use std::process::ExitCode;
use subject::PageSubject;
use tokio::net::TcpListener;
use tokio::signal::ctrl_c;

/// The subject that the page shows first, and its port.
#[derive(Debug)]
pub(crate) struct PageOptions {
    pub(crate) namespace: String,
    pub(crate) release: Option<String>,
    /// The port of the page's server; 0 for one that is free.
    pub(crate) port: u16,
    /// The place of the user, which decides whether a browser opens by itself.
    pub(crate) seat: Seat,
}

/// Serves the page of the graph until Ctrl-C.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) async fn run(client: Client, options: PageOptions) -> Result<ExitCode> {
    let PageOptions {
        namespace,
        release,
        port,
        seat,
    } = options;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .await
        .with_context(|| {
            format!("cannot listen on 127.0.0.1:{port}; name another port with --port, or leave it out for a free one")
        })?;
    let port = listener.local_addr()?.port();
    let secret = random().context("cannot make a secret for the address")?;
    let shown = PageSubject { namespace, release };
    // A user who has read the address may end the process: a signal that comes while its listener is being set up would be lost. The
    // first poll sets it up.
    let mut interrupted = pin!(ctrl_c());
    if let Some(done) = interrupted.as_mut().now_or_never() {
        done.context("cannot listen for Ctrl-C")?;
    }
    let address = format!("http://127.0.0.1:{port}/{secret}/");
    println!("{address}");
    println!(
        "Open this address in a browser. Whoever has it sees what you may see, until Ctrl-C ends it."
    );
    // The file that leads the browser here goes with this process.
    let _lead = browser::open(&address, seat);
    let (feeds, telling) = Feeds::new(client);
    let router = server::router(Guard::new(secret), feeds, shown);
    tokio::select! {
        served = axum::serve(listener, router) => served?,
        () = telling => {}
        _ = interrupted => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// 256 bits that cannot be guessed, in hexadecimal digits.
fn random() -> Result<String> {
    let mut bytes = [0; 32];
    let source = rustls::crypto::ring::default_provider().secure_random;
    source
        .fill(&mut bytes)
        .map_err(|_| anyhow!("the system has no random numbers"))?;
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
    Ok(digits.collect())
}
