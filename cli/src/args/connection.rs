//! The cluster that is asked.

use anyhow::{Context, Result, anyhow};
use clap::Args;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use std::ffi::OsStr;
use std::path::PathBuf;

/// The way out where no setting names the cluster.
const WAY_OUT: &str = "name a file with --kubeconfig, or set KUBECONFIG, as for kubectl; ~/.kube/config is the default";

#[derive(Debug, Args)]
pub(super) struct Connection {
    /// The namespace; default: that of the kubeconfig's context, with -f none.
    #[arg(short, long, global = true)]
    pub(super) namespace: Option<String>,
    /// The kubeconfig file; default: KUBECONFIG, then ~/.kube/config, then the pod's own account.
    #[arg(long, global = true)]
    kubeconfig: Option<PathBuf>,
    /// The kubeconfig's context.
    #[arg(long, global = true)]
    context: Option<String>,
}

impl Connection {
    pub(super) async fn open(self) -> Result<(Client, String)> {
        let Self {
            namespace,
            kubeconfig,
            context,
        } = self;
        let options = KubeConfigOptions {
            context,
            ..KubeConfigOptions::default()
        };
        // A command in a pod may ask the cluster of the pod, unless another is named.
        let unnamed = kubeconfig.is_none() && options.context.is_none();
        let read = match kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => read_all(std::env::var_os("KUBECONFIG").as_deref()),
        };
        let mut config = match read {
            Ok(file) => Config::from_custom_kubeconfig(file, &options)
                .await
                .map_err(told)?,
            Err(error) if unnamed => Config::incluster().map_err(|_| told(error))?,
            Err(error) => return Err(told(error)),
        };
        // A person waits for the answer: by default kube asks for minutes where the server of an aggregated API is down.
        config.default_retry = false;
        let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
        Ok((
            Client::try_from(config).context("cannot make a client for the API server")?,
            namespace,
        ))
    }
}

/// The files that KUBECONFIG names, merged into one. A missing file is passed over, as kubectl does. Where every file is missing, the
/// error names one; without KUBECONFIG the default file is read.
fn read_all(named: Option<&OsStr>) -> Result<Kubeconfig, KubeconfigError> {
    let paths = named.into_iter().flat_map(std::env::split_paths);
    let mut there = paths
        .filter(|path| path.exists())
        .map(Kubeconfig::read_from);
    let Some(first) = there.next() else {
        return Kubeconfig::read();
    };
    there.try_fold(first?, |all, next| all.merge(next?))
}

/// The fault of a kubeconfig, once, and the way out.
fn told(error: KubeconfigError) -> anyhow::Error {
    match error {
        KubeconfigError::ReadConfig(why, path) => {
            anyhow!(
                "cannot read the kubeconfig {}: {why}; {WAY_OUT}",
                path.display()
            )
        }
        KubeconfigError::FindPath => anyhow!("there is no kubeconfig; {WAY_OUT}"),
        KubeconfigError::CurrentContextNotSet => anyhow!(
            "the kubeconfig has no current context; name one with --context, or choose it with kubectl config use-context"
        ),
        KubeconfigError::LoadContext(name) => anyhow!(
            "the kubeconfig has no context {name:?}; kubectl config get-contexts shows those that it has"
        ),
        other => other.into(),
    }
}
