//! The creation half of admission: holds the creation of an object until its list is satisfied. Changes no object.
//!
//! The object does not exist yet, so nothing about it is stored: the client sends it again after each pause. Admission looks at nothing
//! but the request and what is known of the tries before it.

use super::lists::Lists;
use super::{Decision, Deny, ListPlace, Operation, Options, Request, Skip, Warning, annotations};
use crate::digest::short;
use jiff::{SignedDuration, Timestamp};
use rules::annotation::{self, Created};
use rules::creation::{self, Standing};
use rules::dependent::Dependent;
use rules::keys;
use rules::kinds::{self, Kind};
use rules::object::controller_of;
use serde_json::{Map, Value};

/// A request to create an object that asks for its creation to be held.
#[derive(Debug)]
pub(crate) struct HoldRequest<'a> {
    /// The object, and a digest of all that sluice reads of it: equal for every try of a client.
    pub(crate) key: String,
    request: Request<'a>,
    name: &'a str,
}

/// Reads a request to create an object whose creation is to be held until its list is satisfied. Any other request is decided on at once.
///
/// # Errors
///
/// The decision on an object whose creation is not to be held, or whose annotations of sluice cannot be read.
pub(crate) fn read<'a>(
    request: &Request<'a>,
    options: Options,
    is_dry_run: bool,
) -> Result<HoldRequest<'a>, Decision> {
    let (subject, object) = (request.subject, request.object);
    if request.operation != Operation::Create {
        return Err(Skip::Operation.into());
    }
    if is_dry_run {
        return Err(Skip::DryRun.into());
    }
    if controller_of(object).is_some() {
        return Err(Skip::ControllerOwned.into());
    }
    let name = ["name", "generateName"].map(|key| object["metadata"][key].as_str());
    let name = name.into_iter().flatten().find(|name| !name.is_empty());
    let asks = annotations(object).is_some_and(annotation::holds_creation);
    let Some(name) = name.filter(|_| asks) else {
        return Err(Skip::NotAsked.into());
    };
    let says = Lists::of(request).effective(options);
    if ![keys::DEPENDS_ON, keys::CONFIG_DEPENDS_ON]
        .iter()
        .any(|key| says.contains_key(*key))
    {
        let mut decision = Decision::from(Skip::NotAsked);
        decision.warnings.push(Warning::NoListToHold);
        return Err(decision);
    }
    let created = Created {
        has_pods: rules::object::template(object).is_some() || subject.kind == "Pod",
        namespaced: !subject.namespace.is_empty(),
    };
    if let Err(error) = annotation::at_creation(&says, created) {
        let place = ListPlace::Object;
        return Err(Deny::BadList { place, error }.into());
    }
    let text = serde_json::to_string(&says).unwrap_or_default();
    let (group, kind, namespace) = (&subject.group, &subject.kind, &subject.namespace);
    Ok(HoldRequest {
        key: format!("{group}/{kind}/{namespace}/{name}/{:x}", short(text)),
        request: *request,
        name,
    })
}

impl HoldRequest<'_> {
    /// The namespace of the object; empty for a cluster-scoped kind.
    pub(crate) fn namespace(&self) -> &str {
        &self.request.subject.namespace
    }

    /// The object as a dependent that a client first tried to create at `tried`, and an estimate of the bytes of its annotations and labels
    /// in memory.
    pub(crate) fn dependent(&self, tried: Timestamp) -> (Dependent, usize) {
        let (subject, object) = (self.request.subject, self.request.object);
        let builtin = kinds::builtin(&subject.group, &subject.kind).map(Kind::Builtin);
        let kind = builtin.unwrap_or_else(|| Kind::Custom {
            group: subject.group.clone(),
            word: subject.kind.clone(),
        });
        let at = (subject.namespace.as_str(), self.name);
        let dependent = Dependent::to_create(kind, object, at, tried);
        let template = rules::object::template(object);
        let metadata = [Some(object), template].into_iter().flatten();
        let bytes = metadata.map(|it| kept(&it["metadata"])).sum();
        (dependent, bytes)
    }
}

/// The bytes that annotations and labels take in memory: twice their text, which is about the size of a map.
fn kept(metadata: &Value) -> usize {
    let of = |entries: &Map<String, Value>| -> usize {
        let text = |value: &Value| value.as_str().map_or(0, str::len);
        entries.iter().map(|(key, it)| key.len() + text(it)).sum()
    };
    let maps = ["annotations", "labels"].map(|key| metadata[key].as_object());
    2 * maps.into_iter().flatten().map(of).sum::<usize>()
}

/// The answer to a client's try to create an object, by how the creation stands: lets it through, refuses it, or has the client try again
/// after a pause. `tries`: the number of tries so far, with this one.
pub(crate) fn answer(standing: Standing, tries: usize, now: Timestamp) -> Decision {
    let held = |why, again| Deny::CreationHeld {
        why,
        tries: creation::of_request(tries),
        pause: creation::pause(tries, now, again),
    };
    match standing {
        Standing::Open => Skip::MayBeCreated.into(),
        Standing::Refused(why) => Deny::CreationRefused(why).into(),
        Standing::Waits { why, again } => held(why, again).into(),
        Standing::Unread => held("sluice to read its dependencies".to_owned(), None).into(),
    }
}

/// The answer to a creation that there is no room to hold, because its namespace has filled its `share`, in bytes: the client is to try
/// again.
pub(crate) fn no_room(share: usize) -> Decision {
    let pause = SignedDuration::from_secs(30);
    Deny::NoRoomToHold { share, pause }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::{Action, Subject};
    use serde_json::json;

    fn subject(namespace: &str) -> Subject {
        Subject {
            group: "cert-manager.io".to_owned(),
            kind: "Issuer".to_owned(),
            namespace: namespace.to_owned(),
            name: "ca".to_owned(),
        }
    }

    fn issuer(annotations: &Value) -> Value {
        json!({"metadata": {"name": "ca", "namespace": "shop", "annotations": annotations}})
    }

    /// Reads a request of this operation for the object. Returns the key of the creation to hold, or as an error the label of the decision.
    fn of(operation: Operation, object: &Value, is_dry_run: bool) -> Result<String, &'static str> {
        let subject = subject("shop");
        let request = Request {
            operation,
            subject: &subject,
            object,
            old: &Value::Null,
        };
        let read = read(&request, Options::default(), is_dry_run);
        read.map(|it| it.key)
            .map_err(|decision| decision.action.label())
    }

    fn create(object: &Value) -> Result<String, &'static str> {
        of(Operation::Create, object, false)
    }

    fn held() -> Value {
        issuer(&json!({ keys::HOLD: "create", keys::DEPENDS_ON: "deploy/cert-manager" }))
    }

    #[test]
    fn only_the_creation_of_an_object_that_asks_is_held() {
        assert!(create(&held()).is_ok());
        let update = of(Operation::Update, &held(), false);
        assert_eq!(update, Err("skipped-operation"));
        let dry = of(Operation::Create, &held(), true);
        assert_eq!(dry, Err("skipped-dry-run"));
        let inert = issuer(&json!({ keys::DEPENDS_ON: "deploy/cert-manager" }));
        assert_eq!(create(&inert), Err("skipped-not-asked"));
        let idle = issuer(&json!({ keys::HOLD: "create" }));
        assert_eq!(create(&idle), Err("skipped-not-asked"));
        let mut owned = held();
        owned["metadata"]["ownerReferences"] = json!([{"controller": true}]);
        assert_eq!(create(&owned), Err("skipped-controller-owned"));
        let bad = issuer(&json!({ keys::HOLD: "create", keys::DEPENDS_ON: "Deploymnt/x" }));
        assert_eq!(create(&bad), Err("denied-bad-list"));
    }

    #[test]
    fn every_try_has_one_key_until_the_list_changes() {
        let first = create(&held());
        let mut again = held();
        again["metadata"]["uid"] = json!("another");
        again["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(create(&again), first);
        again["metadata"]["annotations"][keys::TIMEOUT] = json!("10s");
        assert_ne!(create(&again), first);
        let mut made = held();
        made["metadata"] =
            json!({"generateName": "ca-", "annotations": made["metadata"]["annotations"]});
        assert!(create(&made).is_ok_and(|key| key.contains("/ca-/")));
    }

    #[test]
    fn the_answer_tells_when_to_try_again() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let told = |standing, tries| answer(standing, tries, at(0)).action;
        let waits = |again: Option<i64>| Standing::Waits {
            why: "Job/seed: InProgress (JobNotComplete)".to_owned(),
            again: again.map(at),
        };
        let after = |standing, tries| match told(standing, tries) {
            Action::Deny(deny) => (deny.status().0, deny.retry_after()),
            other => panic!("{other:?}"),
        };
        assert_eq!(after(Standing::Unread, 1), (429, Some(1)));
        assert_eq!(after(waits(None), 6), (429, Some(30)));
        assert_eq!(after(waits(Some(11)), 6), (429, Some(12)));
        assert_eq!(after(Standing::Refused("x".to_owned()), 2), (403, None));
        assert_eq!(told(Standing::Open, 2).label(), "may-be-created");
        let sentence = |tries| match told(waits(None), tries) {
            Action::Deny(deny) => deny.sentence(&subject("shop")),
            other => panic!("{other:?}"),
        };
        assert_eq!(sentence(14), sentence(3), "the third of the next request");
        assert_eq!(
            sentence(3),
            "shop/Issuer/ca is not created yet, since sluice.dev/hold holds it: it waits for Job/seed: InProgress \
             (JobNotComplete); this was try 3 of 11; create it again once that is ready, or at once with sluice.dev/skip: \"true\""
        );
    }
}
