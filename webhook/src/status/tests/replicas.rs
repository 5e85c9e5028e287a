//! Replicas that release held pods and suspended Jobs, in front of a fake API server.

use super::*;
use crate::known::Allotment;
use crate::status::release::Show;
use axum::http::Response;
use kube::client::Body as Sent;
use std::collections::HashMap;
use std::convert::Infallible;
use tower::service_fn;

/// The patches that the API server got, each with its moment in whole seconds.
type Writes = Vec<(u64, Value)>;

/// Some replicas that look after held pods or suspended Jobs, each with its own knowledge of the cluster, and their API server.
pub(super) struct Replicas {
    /// The first of the replicas.
    pub(super) desk: Desk,
    others: Vec<Desk>,
    server: Arc<Server>,
    shown: Vec<Show>,
}

/// A fake API server, and the replicas' knowledge that its watches fill.
struct Server {
    /// The path of the held objects, without a name.
    path: &'static str,
    /// The objects that the fake API server has stored, by name.
    stands: Mutex<HashMap<String, Value>>,
    writes: Mutex<Writes>,
    refused: AtomicUsize,
    /// The time that a write takes, and then the time until a watch tells of it.
    takes: Mutex<[Duration; 2]>,
    known: Vec<Arc<Known>>,
    arrive: fn(&Known, &Value),
    began: Instant,
}

impl Replicas {
    /// Makes `count` replicas and their API server. `path`: the path of the held objects. `arrive` puts an object into a store. `keep` starts the
    /// task of a replica that looks after held objects, and returns the function that shows it one.
    pub(super) fn new(
        count: usize,
        path: &'static str,
        arrive: fn(&Known, &Value),
        keep: impl Fn(&Desk, Client) -> Show,
    ) -> Self {
        let desk = Desk::new(&json!({}));
        let beside = |_| Desk::beside(&json!({}), Arc::clone(&desk.events));
        let others: Vec<Desk> = (1..count).map(beside).collect();
        let all = || [&desk].into_iter().chain(&others);
        all().for_each(|desk| desk.service.known.gated().replace::<&Value>([]));
        let server = Arc::new(Server {
            path,
            stands: Mutex::default(),
            writes: Mutex::default(),
            refused: AtomicUsize::new(0),
            takes: Mutex::default(),
            known: all().map(|it| Arc::clone(&it.service.known)).collect(),
            arrive,
            began: desk.began,
        });
        let shown = all().map(|desk| keep(desk, server.client()));
        let shown = shown.collect();
        Self {
            desk,
            others,
            server,
            shown,
        }
    }

    /// Sets the milliseconds that a write takes, and then those until a watch shows the result of the write.
    pub(super) fn takes(&self, milliseconds: [u64; 2]) {
        *self.server.takes.lock().unwrap() = milliseconds.map(Duration::from_millis);
    }

    /// Puts an object of this kind, which is no held one, into the store of every replica.
    pub(super) fn put(&self, word: &str, object: &Value) {
        let all = [&self.desk].into_iter().chain(&self.others);
        all.for_each(|desk| desk.put(word, object));
    }

    /// Stores a held object in the fake API server, shows it to the task of each replica as a watch does, and then puts it into every replica's
    /// store.
    pub(super) fn see(&self, object: &Value) {
        self.list(object);
        self.server.arrives(object);
    }

    /// Stores a held object in the fake API server, and shows it to the task of each replica as a watch does that lists its kind anew: before the
    /// stores of the replicas have the object.
    pub(super) fn list(&self, object: &Value) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let mut stands = self.server.stands.lock().unwrap();
        stands.insert(name.to_owned(), object.clone());
        self.shown.iter().for_each(|show| show(object));
    }

    /// Puts a held object into the store of every replica, as at the end of the list that [`Replicas::list`] began.
    pub(super) fn arrives(&self, object: &Value) {
        self.server.arrives(object);
    }

    /// Waits until this second is half over, and returns the patches up to then.
    pub(super) async fn written_at(&self, second: u64) -> Writes {
        let at = self.desk.began + Duration::from_millis(second * 1000 + 500);
        tokio::time::sleep_until(at).await;
        self.server.writes.lock().unwrap().clone()
    }

    /// Waits until this second is half over, and returns the seconds of all patches up to then.
    pub(super) async fn moments_at(&self, second: u64) -> Vec<u64> {
        let written = self.written_at(second).await;
        written.into_iter().map(|(at, _)| at).collect()
    }

    /// The number of patches that the API server refused, since the object had changed before they came.
    pub(super) fn refused(&self) -> usize {
        self.server.refused.load(Ordering::Relaxed)
    }

    /// Takes the memory that the namespace `shop` has for held objects, except for this number of places. The memory is free again when the result is
    /// dropped.
    pub(super) fn filled_but_for(&self, places: usize) -> Vec<Allotment> {
        let budget = &self.desk.service.known.budgets().holds;
        let place = || {
            let mut part = budget.part("shop");
            part.take(8 * 1024).then_some(part)
        };
        let mut taken: Vec<Allotment> = std::iter::from_fn(place).collect();
        taken.truncate(taken.len() - places);
        taken
    }

    /// The object with this name as the fake API server has it now.
    pub(super) fn stands(&self, name: &str) -> Value {
        self.server.stands.lock().unwrap()[name].clone()
    }
}

impl Server {
    fn arrives(&self, object: &Value) {
        self.known.iter().for_each(|it| (self.arrive)(it, object));
    }

    fn client(self: &Arc<Self>) -> Client {
        let server = Arc::clone(self);
        let answer = move |request: Request<Sent>| {
            let server = Arc::clone(&server);
            async move {
                let (code, answer) = server.patched(request).await;
                let response = Response::builder().status(code);
                let response = response.body(Body::from(answer.to_string()));
                Ok::<_, Infallible>(response.unwrap())
            }
        };
        Client::new(service_fn(answer), "default")
    }

    /// Answers a PATCH request: applies the JSON patch to the stored object, and lets the watches show the result later. Returns the status code and
    /// the body: 422 and an error where the patch does not apply.
    async fn patched(self: Arc<Self>, request: Request<Sent>) -> (u16, Value) {
        let path = request.uri().path();
        let name = path.strip_prefix(self.path).expect("it is held").to_owned();
        let kind = &request.headers()["content-type"];
        assert_eq!(request.method(), "PATCH");
        assert_eq!(kind, "application/json-patch+json");
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let operations: json_patch::Patch = serde_json::from_slice(&body).unwrap();
        let [takes, lags] = *self.takes.lock().unwrap();
        tokio::time::sleep(takes).await;
        let mut object = self.stands.lock().unwrap()[&name].clone();
        if let Err(error) = json_patch::patch(&mut object, &operations) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            let status = json!({"kind": "Status", "status": "Failure", "code": 422, "reason": "Invalid", "message": error.to_string()});
            return (422, status);
        }
        self.stands.lock().unwrap().insert(name, object.clone());
        let written = (self.began.elapsed().as_secs(), json!(operations));
        self.writes.lock().unwrap().push(written);
        let told = object.clone();
        tokio::spawn(async move {
            tokio::time::sleep(lags).await;
            self.arrives(&told);
        });
        (200, object)
    }
}
