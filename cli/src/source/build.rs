//! Has kubectl build a kustomization.

use super::kustomization::Kustomization;
use super::outside::Need;
use anyhow::{Context, Result, bail, ensure};
use std::io::ErrorKind;
use std::process::{Command, Stdio};

impl Kustomization {
    /// The output of `kubectl kustomize` for the folder. A build that fails is an error with kubectl's message and the way out.
    pub(super) fn build(&self) -> Result<Vec<u8>> {
        let shown = self.folder().display();
        let mut kubectl = Command::new("kubectl");
        kubectl.arg("kustomize").arg(self.folder());
        // A base in a private repository fails at once, rather than to ask for a password.
        kubectl.env("GIT_TERMINAL_PROMPT", "0").stdin(Stdio::null());
        let output = match kubectl.output() {
            Err(error) if error.kind() == ErrorKind::NotFound => bail!(
                "{shown} is a kustomization, and there is no kubectl on the PATH to build it; install kubectl, or build it elsewhere and \
                 name the file"
            ),
            output => output.context("cannot run kubectl")?,
        };
        ensure!(
            output.status.success(),
            "kubectl cannot build {shown}: {}; {}",
            complaint(&output.stderr),
            self.way_out()
        );
        Ok(output.stdout)
    }

    /// The advice to the user for a build that fails, by what the kustomization needs beyond files.
    fn way_out(&self) -> String {
        let shown = self.folder().display();
        match self.needs() {
            Some(Need::Network(base)) => format!(
                "it reads {base}, which needs the network: build it where there is one (kubectl kustomize {shown} > FILE) and name the file"
            ),
            Some(Need::Helm) => format!(
                "it has charts, which only kustomize renders: kubectl kustomize --enable-helm {shown} > FILE, and name the file"
            ),
            Some(Need::Plugin) => format!(
                "it has plugins, which may run anything: if they are known to you, kubectl kustomize --enable-alpha-plugins --enable-exec \
                 {shown} > FILE, and name the file"
            ),
            None => format!(
                "mend it, or build it with the options that it needs (kubectl kustomize {shown} > FILE) and name the file"
            ),
        }
    }
}

/// The error output of kubectl on one line, without its warnings about fields that are deprecated.
fn complaint(error: &[u8]) -> String {
    let error = String::from_utf8_lossy(error);
    let lines = error.lines().filter(|it| !it.starts_with("# Warning"));
    let lines: Vec<_> = lines.map(str::trim).filter(|it| !it.is_empty()).collect();
    lines.join(" ")
}
