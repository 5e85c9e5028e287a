//! What the API server serves that no definition defines: aggregated APIs.
//!
//! Everybody may name custom kinds that there are not, and of each it has to be asked again for as long as somebody waits for it. So an
//! answer serves all of them for a while, and they share the question.

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

/// After this long a kind that is not served is looked for again.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// How soon discovery is asked again that has not answered.
pub(super) const ASK_AGAIN: Duration = Duration::from_secs(5);

/// What the API server has said lately.
#[derive(Default)]
pub(crate) struct Discovery {
    groups: Answers<APIGroupList>,
    /// By version: `metrics.k8s.io/v1beta1`. Only of groups that are there is it asked, so these are few.
    resources: Answers<APIResourceList>,
}

/// The API server was asked and did not say.
#[derive(Debug)]
pub(super) struct Unanswered;

struct Answers<T>(Mutex<HashMap<String, Answer<T>>>);

/// What was said, and when.
type Answer<T> = Shared<BoxFuture<'static, (Instant, Said<T>)>>;

enum Said<T> {
    That(Arc<T>),
    /// That it does not serve it.
    Absent,
    Nothing,
}

impl Discovery {
    /// The kind of this group that `word` means; `None` where the API server says that it serves none.
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
    /// What was said of it lately, else what comes of `ask`.
    async fn of(
        &self,
        what: &str,
        ask: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Said<T> {
        let answer = self.begun(what, ask);
        answer.await.1
    }

    /// Who asks while somebody else does hears the same. Where that one has gone, whoever is left goes on for him.
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
    /// For how long it is told.
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
            // Not that it cannot tell.
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
