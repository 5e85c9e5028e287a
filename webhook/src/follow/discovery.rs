//! Asks the API server which resources it serves without a definition: those of aggregated APIs.
//!
//! A list may name custom kinds that do not exist, and discovery has to be asked about each kind for as long as a gate waits for it. So
//! one answer serves all kinds for a while, and the kinds share the question.

use super::LOOK_AGAIN;
use super::served::{Served, among};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroupList, APIResourceList};
use kube::{Client, Error};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tracing::debug;

/// The pause after a question that the API server's discovery did not answer, before it is asked again.
pub(super) const ASK_AGAIN: Duration = Duration::from_secs(5);

/// The recent answers of the API server's discovery: the groups and resources that it serves.
#[derive(Default)]
pub(crate) struct Discovery {
    groups: Answers<APIGroupList>,
    /// The resources of a group's version, by a name such as `metrics.k8s.io/v1beta1`. Discovery is asked only about groups that exist, so there
    /// are few.
    resources: Answers<APIResourceList>,
}

/// The error that the API server did not answer a question of discovery.
#[derive(Debug)]
pub(super) struct Unanswered;

struct Answers<T>(Mutex<HashMap<String, Answer<T>>>);

/// A question to discovery, which several callers share: it ends in the answer, and the moment at which the answer came.
type Answer<T> = Shared<BoxFuture<'static, (Instant, Said<T>)>>;

enum Said<T> {
    That(Arc<T>),
    /// The API server does not serve the group or the version.
    Absent,
    Nothing,
}

impl Discovery {
    /// The kind of this group whose name or plural is `word`, in any case; `None` if the API server serves no such kind. The preferred
    /// version of the group comes first.
    ///
    /// # Errors
    ///
    /// The API server did not answer a question, and the answers that came do not have the kind.
    pub(super) async fn find(
        &self,
        client: &Client,
        group: &str,
        word: &str,
    ) -> Result<Option<Served>, Unanswered> {
        let asked = client.clone();
        let groups = async move { asked.list_api_groups().await };
        let versions = match self.groups.of("", groups).await {
            Said::That(groups) => versions(&groups, group),
            Said::Absent => Vec::new(),
            Said::Nothing => return Err(Unanswered),
        };
        let mut unanswered = false;
        for version in versions {
            let (asked, of) = (client.clone(), version.clone());
            let resources = async move { asked.list_api_group_resources(&of).await };
            match self.resources.of(&version, resources).await {
                Said::That(served) => {
                    if let Some(found) = among(&served, word) {
                        return Ok(Some(found));
                    }
                }
                Said::Absent => {}
                Said::Nothing => unanswered = true,
            }
        }
        if unanswered {
            Err(Unanswered)
        } else {
            Ok(None)
        }
    }
}

/// The versions of a group, such as `metrics.k8s.io/v1beta1`: the one that the API server prefers, then the others as it lists them.
/// Empty if the API server does not serve the group.
fn versions(groups: &APIGroupList, group: &str) -> Vec<String> {
    let Some(found) = groups.groups.iter().find(|it| it.name == group) else {
        return Vec::new();
    };
    let preferred = found.preferred_version.iter();
    let all = preferred.chain(&found.versions).map(|it| &it.group_version);
    let mut seen = BTreeSet::new();
    all.filter(|it| seen.insert(*it)).cloned().collect()
}

impl<T: Send + Sync + 'static> Answers<T> {
    /// The answer to the question about `what`, a group's version or empty for all groups: one that still serves ([`Said::lasts`]), else that to
    /// `ask`.
    async fn of(
        &self,
        what: &str,
        ask: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Said<T> {
        let answer = self.begun(what, ask);
        answer.await.1
    }

    /// Begins the question about `what`, unless it is being asked or its last answer still serves. All callers that ask before it is answered
    /// share the question, and go on with it if the first caller goes away.
    fn begun(
        &self,
        what: &str,
        ask: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Answer<T> {
        // Every change is one call, so a panic leaves nothing half done.
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let serves = |it: &&Answer<T>| {
            it.peek()
                .is_none_or(|(at, said)| at.elapsed() < said.lasts())
        };
        if let Some(answer) = answers.get(what).filter(serves) {
            return answer.clone();
        }
        let answer = ask.map(|said| (Instant::now(), said.into()));
        let answer = answer.boxed().shared();
        answers.insert(what.to_owned(), answer.clone());
        answer
    }
}

impl<T> Said<T> {
    /// The time for which an answer of discovery serves all callers: shorter if the API server did not answer.
    fn lasts(&self) -> Duration {
        match self {
            Self::That(_) | Self::Absent => LOOK_AGAIN,
            Self::Nothing => ASK_AGAIN,
        }
    }
}

impl<T> From<Result<T, Error>> for Said<T> {
    fn from(answer: Result<T, Error>) -> Self {
        match answer {
            Ok(said) => Self::That(Arc::new(said)),
            // A 404 means that the group is not served; any other error means that discovery cannot tell.
            Err(Error::Api(status)) if status.code == 404 => Self::Absent,
            Err(error) => {
                debug!(%error, "Discovery");
                Self::Nothing
            }
        }
    }
}

impl<T> Clone for Said<T> {
    fn clone(&self) -> Self {
        match self {
            Self::That(said) => Self::That(Arc::clone(said)),
            Self::Absent => Self::Absent,
            Self::Nothing => Self::Nothing,
        }
    }
}

impl<T> Default for Answers<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
