//! Reads the last line that a gate has written about its wait, out of the log of its container.

use kube::api::LogParams;
use kube::core::request::Request;
use kube::{Client, Error};
use rules::keys;
use wire::Decision;
use wire::said::{self, Said};

/// The number of lines to ask for: one of the last few tells the state of the wait, with up to twenty behind it that name other
/// unsatisfied entries.
const LINES: i64 = 60;

/// The result of reading a gate's log: its last line, nothing yet, or the reason why it cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GateWord {
    /// The last line of the gate on its wait.
    Said(Said),
    /// The log has no line about the wait yet, the gate's container has not started, or the pod is gone.
    Nothing,
    /// The gate's log cannot be read, and why.
    Unheard(String),
}

impl GateWord {
    /// Whether the gate says that it has opened: the kubelet tells of its end a moment later.
    pub(crate) fn has_opened(&self) -> bool {
        matches!(self, Self::Said(said) if said.decision == Decision::Open)
    }
}

/// Reads the last line of a pod's gate about its wait out of its log. Every failure is an answer too: the cluster can be judged without the
/// log.
pub(crate) async fn last(client: &Client, namespace: &str, pod: &str) -> GateWord {
    let params = LogParams {
        container: Some(keys::GATE_CONTAINER.to_owned()),
        tail_lines: Some(LINES),
        ..LogParams::default()
    };
    let request = Request::new(format!("/api/v1/namespaces/{namespace}/pods"));
    let request = match request.logs(pod, &params) {
        Ok(request) => request,
        Err(error) => return GateWord::Unheard(error.to_string()),
    };
    match client.request_text(request).await {
        Ok(log) => said::last(&log).map_or(GateWord::Nothing, GateWord::Said),
        // The container has not started yet, or the pod is gone by now.
        Err(Error::Api(status)) if matches!(status.code, 400 | 404) => GateWord::Nothing,
        Err(Error::Api(status)) if status.code == 403 => GateWord::Unheard(format!(
            "that takes the right to get pods/log in namespace {namespace}"
        )),
        Err(error) => GateWord::Unheard(error.to_string()),
    }
}
