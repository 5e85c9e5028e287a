//! Finds the target of a wait of a rendered workload: a rendered object, or a thing outside of the chart.

mod hosts;
mod jobs;
mod objects;
mod outside;

use super::container::Container;
use super::object::{ChartObject, own_pods, text};
use super::reason::Reason;
use super::target::{Form, Target};
use super::wait::{self, Address, Asks, For, Wait};
use rules::selector::Selector;
use serde_json::Value;

/// The objects that one set of values renders, among which the target of a wait is looked for.
pub(super) struct World<'w> {
    pub(super) objects: &'w [ChartObject],
    /// The declared sub-charts that no folder holds, so their objects are unknown.
    pub(super) missing: &'w [String],
    /// The namespace of the workload that waits.
    pub(super) home: &'w str,
    /// The name of the release.
    pub(super) release: &'w str,
    /// The names that the set of values gives in place of names that begin with the release's: those of the chart, and of sub-charts that are
    /// here.
    pub(super) overrides: &'w [&'w str],
    /// The texts in the chart's values. The user chooses an address that stands in one of them.
    pub(super) values: &'w [String],
    /// The pod template of the workload that waits.
    pub(super) pods: &'w Value,
}

/// The target of a wait, or the reason why no list can name it; `None` where the wait is for the pod itself.
pub(super) type Resolved = Result<Option<Target>, Reason>;

impl World<'_> {
    /// The targets of a wait. One for data has two parts where nothing tells the writer of the data: the store itself, and the data, which no
    /// list can say.
    pub(super) fn resolve_all(
        &self,
        wait: &Wait,
        container: &Container,
        own: &ChartObject,
    ) -> Vec<Resolved> {
        let found = self.resolve(wait, container, own);
        let (For::Data(data), Err(_)) = (&wait.for_what, &found) else {
            return vec![found];
        };
        let store = data.address.as_ref();
        match store.map(|it| self.address(it, container, own)) {
            Some(Ok(None)) => vec![Ok(None)],
            Some(store @ Ok(_)) => vec![store, found],
            Some(Err(_)) | None => vec![found],
        }
    }

    pub(super) fn resolve(
        &self,
        wait: &Wait,
        container: &Container,
        own: &ChartObject,
    ) -> Resolved {
        match &wait.for_what {
            For::Address(address) => self.address(address, container, own),
            For::Name(name) => {
                let asked = Address::of(name, Asks::Port);
                let found = self.host(&asked, Some("present"), container, own);
                // A headless name has an address only once a pod behind it is ready, for the pod itself as for others.
                if let Ok(Some(target)) = &found
                    && self.is_named_by_its_pods(target)
                    && let found @ (Ok(_) | Err(Reason::Own(_))) =
                        self.host(&asked, None, container, own)
                {
                    return found;
                }
                match found {
                    Err(reason) if may_be_outside(&reason) => {
                        self.outside_name(&asked, container).map(Some)
                    }
                    found => Ok(found?.map(|it| Target { asks: None, ..it })),
                }
            }
            For::Object(named) => self.named(named, container, own).map(Some),
            For::Selected {
                kind,
                selector,
                namespace,
                same_node,
            } => {
                let kind = wait::selected_kind(kind);
                let selector = container.known(selector)?;
                Ok(Some(Target {
                    form: Form::Selected {
                        kind: kind.to_owned(),
                        same_node: *same_node,
                    },
                    name: selector,
                    namespace: self.foreign(namespace.as_deref(), container)?,
                    object: None,
                    asks: None,
                }))
            }
            For::Container(name) => self.with_container(name).map(Some),
            For::PodsNamed(name) => self.with_pods(name, container, own).map(Some),
            For::Migration => self.migration(container, own).map(Some),
            For::Data(data) => self.writer(data, container, own).map(Some),
            For::File(path) if container.is_on_the_node(path) => {
                Err(Reason::NodeFile(path.clone()))
            }
            For::File(_) => Ok(None),
            For::Nothing(reason) => Err(reason.clone()),
        }
    }

    fn address(&self, address: &Address, container: &Container, own: &ChartObject) -> Resolved {
        let found = match self.host(address, None, container, own) {
            Err(reason) if may_be_outside(&reason) => {
                let outside = self.outside(address, container);
                return outside?.map_or(Err(reason), |it| Ok(Some(it)));
            }
            found => found?,
        };
        // A word without a port may be the value of an option and no host, so it counts as a host only if a Service has its name.
        let has_port = !address.port.is_empty() || !address.usual.is_empty();
        let is_sure = has_port || !address.scheme.is_empty() || address.host.contains('.');
        if let Some(target) = found.as_ref().filter(|_| !is_sure) {
            let is_missing = self
                .missing
                .iter()
                .any(|it| target.name.contains(it.as_str()));
            let is_service = matches!(&target.form, Form::Object { kind, .. } if kind == "service");
            if target.object.is_none() && is_service && !is_missing {
                return Err(Reason::NotHere(target.name.clone()));
            }
        }
        if let Some(job) = self.maker_of_a_mark(address, own) {
            return Ok(Some(job));
        }
        Ok(found.map(|it| Target {
            asks: Some(address.asks),
            ..it
        }))
    }

    /// Refuses the rendered object number `at` as a target that may never let the gate open: the workload itself, and a Service of its own pods,
    /// without pods, or with pods that are not ready. A Service that need not be ready, because the entry asks for `state`, is not refused.
    fn is_another(
        &self,
        at: usize,
        state: Option<&'static str>,
        own: &ChartObject,
    ) -> Result<(), Reason> {
        let object = &self.objects[at];
        let value = &object.value;
        let name = || text(value, "/metadata/name").to_owned();
        if std::ptr::eq(object, own) {
            return Err(Reason::Own(name()));
        }
        if value["kind"] != "Service" || state.is_some() {
            return Ok(());
        }
        let selector = value
            .pointer("/spec/selector")
            .filter(|it| it.as_object().is_some_and(|it| !it.is_empty()))
            .ok_or_else(|| Reason::NoPods(name()))?;
        let selector = Selector::labels(selector);
        if own_pods(own).is_some_and(|it| selector.selects(it)) {
            return Err(Reason::Own(name()));
        }
        // Only a headless Service is one for its pods to find each other. Any other publishes pods early so that dependents need not wait for them.
        let spec = &value["spec"];
        if spec["publishNotReadyAddresses"] == true && spec["clusterIP"] != "None" {
            return Err(Reason::NotReady(name()));
        }
        Ok(())
    }

    /// The index of the rendered object of a kind by its name, in `namespace`; `None` where none is rendered. Without a namespace, the object is in
    /// that of the waiting workload, or says none.
    fn find(&self, kind: &str, name: &str, namespace: Option<&str>) -> Option<usize> {
        let meant = namespace.unwrap_or(self.home);
        self.objects.iter().position(|object| {
            let own = text(&object.value, "/metadata/namespace");
            let same = own == meant || own.is_empty() && namespace.is_none();
            same && object.value["kind"] == kind && text(&object.value, "/metadata/name") == name
        })
    }
}

/// Whether a wait for which no object was found, for this reason, may be for an address that the gate tries itself.
fn may_be_outside(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::Outside(_)
            | Reason::OfValues(_)
            | Reason::Ambiguous { .. }
            | Reason::Unsaid(_)
            | Reason::Elsewhere(_)
    )
}

fn workload(at: usize, object: &ChartObject) -> Target {
    Target {
        form: Form::Object {
            kind: text(&object.value, "/kind").to_lowercase(),
            state: None,
        },
        name: text(&object.value, "/metadata/name").to_owned(),
        namespace: None,
        object: Some(at),
        asks: None,
    }
}
