//! Assembly: the TLS provider, the arguments, an exit code.

use clap::Parser;
use webhook::Args;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("a TLS provider is installed already"))?;
    Args::parse().run().await
}
