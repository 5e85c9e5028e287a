//! The options that choose the cluster, the namespace and the account, and the client that is made of them.

use super::wrong;
use anyhow::{Context, Result, anyhow};
use clap::Args;
use jiff::SignedDuration;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

/// The way out where no setting names the cluster.
const WAY_OUT: &str = "name a file with --kubeconfig, or set KUBECONFIG, as for kubectl; ~/.kube/config is the default";

#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
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
    /// The kubeconfig's cluster, in place of the context's.
    #[arg(long, global = true, value_name = "NAME")]
    cluster: Option<String>,
    /// The kubeconfig's user, in place of the context's.
    #[arg(long, global = true, value_name = "NAME")]
    user: Option<String>,
    /// Asks as this user or service account, with the right to impersonate it.
    #[arg(long = "as", global = true, value_name = "USER")]
    impersonate: Option<String>,
    /// Asks as a member of this group; may be given several times, beside --as.
    #[arg(long = "as-group", global = true, value_name = "GROUP")]
    groups: Vec<String>,
    /// How long one request may take, like 30s or 2m; 0 is without an end.
    #[arg(long, global = true, value_name = "TIME", value_parser = duration)]
    request_timeout: Option<Duration>,
}

/// Reads a duration as kubectl does, a number alone in seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().map(Duration::from_secs);
    let read = || Duration::try_from(text.parse::<SignedDuration>().ok()?).ok();
    let read = seconds.or_else(read);
    read.ok_or_else(|| "write a time like 90s or 2m".to_owned())
}

impl Connection {
    pub(super) async fn open(self) -> Result<(Client, String)> {
        let Self {
            namespace,
            kubeconfig,
            context,
            cluster,
            user,
            impersonate,
            groups,
            request_timeout,
        } = self;
        if impersonate.is_none() && !groups.is_empty() {
            wrong("--as-group needs --as, the user whose group it is");
        }
        // A command in a pod may ask the cluster of the pod, unless another is named.
        let named = [&context, &cluster, &user];
        let unnamed = kubeconfig.is_none() && named.iter().all(|it| it.is_none());
        let options = KubeConfigOptions {
            context,
            cluster,
            user,
        };
        let read = match kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => read_all(std::env::var_os("KUBECONFIG").as_deref()),
        };
        let mut config = match read {
            Ok(file) if !has_user(&file, options.user.as_deref()) => {
                let user = options.user.unwrap_or_default();
                return Err(anyhow!(
                    "the kubeconfig has no user {user:?}; kubectl config view shows those that it has"
                ));
            }
            Ok(file) => Config::from_custom_kubeconfig(file, &options)
                .await
                .map_err(told)?,
            Err(error) if unnamed => Config::incluster().map_err(|_| told(error))?,
            Err(error) => return Err(told(error)),
        };
        // A person waits for the answer: by default kube asks for minutes where the server of an aggregated API is down.
        config.default_retry = false;
        if impersonate.is_some() {
            config.auth_info.impersonate = impersonate;
            config.auth_info.impersonate_groups = Some(groups).filter(|it| !it.is_empty());
        }
        if let Some(time) = request_timeout {
            let time = Some(time).filter(|it| !it.is_zero());
            (config.connect_timeout, config.read_timeout) = (time, time);
        }
        let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
        Ok((
            Client::try_from(config).context("cannot make a client for the API server")?,
            namespace,
        ))
    }
}

/// Whether a kubeconfig has the user that `--user` names; true without `--user`. For a missing user, kube would send requests without an
/// account.
fn has_user(file: &Kubeconfig, user: Option<&str>) -> bool {
    let mut users = file.auth_infos.iter();
    user.is_none_or(|user| users.any(|it| it.name == user))
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

/// Words the fault of a kubeconfig as one error with its way out. A fault without an own wording keeps that of kube.
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
