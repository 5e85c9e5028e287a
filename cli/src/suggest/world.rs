//! Finds the target of a wait of a rendered workload: a rendered object, or a thing outside of the chart.

mod jobs;

use super::container::Container;
use super::environment::taken_over;
use super::host::{self, Host};
use super::object::{ChartObject, own_pods, text};
use super::outcome;
use super::reason::Reason;
use super::target::{Form, Target};
use super::wait::{self, Address, Asks, For, NamedObject, Wait};
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
    /// The texts in the chart's values. The user chooses an address that stands in one of them.
    pub(super) values: &'w [String],
    /// The pod template of the workload that waits.
    pub(super) pods: &'w Value,
}

/// The target of a wait, or the reason why no list can name it; `None` where the wait is for the pod itself.
pub(super) type Resolved = Result<Option<Target>, Reason>;

impl World<'_> {
    /// The targets of a wait. One for data has two parts where nothing tells the writer of the data: the store itself, and the rest, which
    /// no list can say.
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

    /// The target of an address that the gate tries itself. `None` where the address has no port, and its scheme has no usual one, and for the
    /// name of an object that is not there.
    ///
    /// # Errors
    ///
    /// The host or the port is a variable whose value the container does not tell.
    fn outside(&self, address: &Address, container: &Container) -> Result<Option<Target>, Reason> {
        let host = taken_over(&address.host, container, self.pods)?;
        if address.logs_in && address.succeeds {
            return Err(Reason::LogsIn(host));
        }
        let known = Address {
            port: taken_over(&address.port, container, self.pods)?,
            ..address.clone()
        };
        let entry = Address { host, ..known };
        if has_a_default(&entry.host) {
            return Err(Reason::OfValues(entry.host));
        }
        let of_values = self.is_of_values(&entry.host);
        if !of_values && self.is_of_the_release(&entry.host) {
            return Ok(None);
        }
        Ok(entry.entry().map(|name| of_address(name, of_values)))
    }

    /// The target of a host whose name the gate looks up itself.
    fn outside_name(&self, asked: &Address, container: &Container) -> Result<Target, Reason> {
        let host = taken_over(&asked.host, container, self.pods)?;
        let of_values = self.is_of_values(&host);
        Ok(of_address(format!("dns://{host}"), of_values))
    }

    /// Whether a host has the name of the release, and of no sub-chart that is missing here: such a host is never outside of the cluster, and no
    /// object of the chart has its name.
    fn is_of_the_release(&self, host: &str) -> bool {
        let is_missing = || self.missing.iter().any(|it| host.contains(it.as_str()));
        let rest = host.strip_prefix(self.release);
        rest.is_some_and(|it| it.starts_with('-')) && !is_missing()
    }

    /// Whether a value of the chart holds a host, so that the user chooses the host.
    fn is_of_values(&self, host: &str) -> bool {
        let mut texts = self.values.iter();
        texts.any(|it| it == host || host::is_within(it, host))
    }

    fn host(
        &self,
        address: &Address,
        state: Option<&'static str>,
        container: &Container,
        own: &ChartObject,
    ) -> Resolved {
        let host = container.known(&address.host)?;
        if host.is_empty() {
            return Err(Reason::NoValue("the address".to_owned()));
        }
        if host::is_number(&host) {
            return Err(Reason::NoHost("it".to_owned()));
        }
        let service =
            |name: &str, namespace: Option<String>| self.service(name, namespace, state, own);
        match host::of(&host) {
            Host::Itself => Ok(None),
            Host::Outside => Err(Reason::Outside(host)),
            Host::Two(name, second) if second == self.home => service(&name, None),
            Host::Two(name, second) => {
                // `POD.SERVICE` names a pod of a StatefulSet by its headless Service.
                if self.find("Service", &second, None).is_some() {
                    return Ok(Some(pod(&name, None)));
                }
                if self.find("Service", &name, Some(&second)).is_some() {
                    return service(&name, Some(second));
                }
                let entry = outcome::object(Some(&second), "service", &name, state);
                Err(Reason::Ambiguous { host, entry })
            }
            Host::Service {
                name,
                namespace,
                pod: named,
            } => {
                let namespace = namespace.filter(|it| it != self.home);
                match named {
                    Some(it) => Ok(Some(pod(&it, namespace))),
                    None => service(&name, namespace),
                }
            }
        }
    }

    /// Whether the name of a target is that of its ready pods: the target is a headless Service that publishes no other pods. A Service that an
    /// operator makes is headless where its name says so.
    fn is_named_by_its_pods(&self, target: &Target) -> bool {
        let Some(at) = target.object else {
            return target.name.ends_with("-headless");
        };
        let spec = &self.objects[at].value["spec"];
        spec["clusterIP"] == "None" && spec["publishNotReadyAddresses"] != true
    }

    /// The target of a Service by its name, in `namespace` or in the namespace of the release.
    fn service(
        &self,
        name: &str,
        namespace: Option<String>,
        state: Option<&'static str>,
        own: &ChartObject,
    ) -> Resolved {
        let at = self.find("Service", name, namespace.as_deref());
        match at {
            Some(at) => self.is_another(at, state, own)?,
            None if has_a_default(name) => {
                return Err(Reason::OfValues(name.to_owned()));
            }
            None if namespace.is_none() => {
                let of_set = name
                    .rsplit_once('-')
                    .filter(|(_, number)| number.parse::<u32>().is_ok());
                if of_set.is_some_and(|(set, _)| self.find("StatefulSet", set, None).is_some()) {
                    return Ok(Some(pod(name, None)));
                }
                if self.is_of_values(name) {
                    return Err(Reason::OfValues(name.to_owned()));
                }
            }
            None => {}
        }
        Ok(Some(Target {
            form: Form::Object {
                kind: "service".to_owned(),
                state,
            },
            name: name.to_owned(),
            namespace,
            object: at,
            asks: None,
        }))
    }

    fn named(
        &self,
        named: &NamedObject,
        container: &Container,
        own: &ChartObject,
    ) -> Result<Target, Reason> {
        let name = container.known(&named.name)?;
        let namespace = self.foreign(named.namespace.as_deref(), container)?;
        let word = rules::annotation::kind(&named.kind)
            .ok()
            .map(|it| it.word().to_owned());
        let object = word
            .as_deref()
            .and_then(|it| self.find(it, &name, namespace.as_deref()));
        if let Some(job) = object.filter(|_| word.as_deref() == Some("Job")) {
            self.runs_in_time(job, own)?;
        }
        if let Some(at) = object {
            self.is_another(at, named.state, own)?;
        }
        let custom = word
            .is_none()
            .then(|| self.custom(&named.kind, &name))
            .flatten();
        let (kind, object) = match custom {
            Some((kind, at)) => (kind, Some(at)),
            None => (named.kind.clone(), object),
        };
        let form = if named.same_node {
            Form::SameNode { kind }
        } else {
            Form::Object {
                kind,
                state: named.state,
            }
        };
        Ok(Target {
            form,
            name,
            namespace,
            object,
            asks: None,
        })
    }

    /// A custom kind with its group, and the object of the chart that tells the group: `flows.example.com` for `flows`.
    fn custom(&self, kind: &str, name: &str) -> Option<(String, usize)> {
        let is_it = |object: &ChartObject| {
            let word = text(&object.value, "/kind").to_lowercase();
            let is_kind = kind == word || kind.strip_prefix(word.as_str()).is_some_and(is_plural);
            is_kind && !word.is_empty() && text(&object.value, "/metadata/name") == name
        };
        let at = self.objects.iter().position(is_it)?;
        let (group, _) = text(&self.objects[at].value, "/apiVersion").split_once('/')?;
        Some((format!("{kind}.{group}"), at))
    }

    /// Refuses a target that would never let the gate open: the workload itself, a Service of its own pods, a Service without pods.
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

    /// The namespace of a host; `None` for the namespace of the release.
    fn foreign(
        &self,
        namespace: Option<&str>,
        container: &Container,
    ) -> Result<Option<String>, Reason> {
        let Some(namespace) = namespace else {
            return Ok(None);
        };
        // A variable such as `POD_NAMESPACE` holds the pod's own namespace.
        if namespace.to_uppercase().contains("NAMESPACE)") {
            return Ok(None);
        }
        let namespace = container.known(namespace)?;
        Ok(Some(namespace).filter(|it| it != self.home))
    }

    /// The target of the one workload that has a container of this name.
    fn with_container(&self, name: &str) -> Result<Target, Reason> {
        let has = |object: &&(usize, &ChartObject)| {
            let pods = own_pods(object.1).and_then(|it| it["spec"]["containers"].as_array());
            pods.is_some_and(|it| it.iter().any(|it| it["name"] == name))
        };
        let objects: Vec<_> = self.objects.iter().enumerate().collect();
        let mut found = objects.iter().filter(has);
        let (at, object) = found
            .next()
            .ok_or_else(|| Reason::NoContainer(name.to_owned()))?;
        if found.next().is_some() {
            return Err(Reason::NoContainer(name.to_owned()));
        }
        Ok(workload(*at, object))
    }

    /// The target of the one workload that makes pods whose names begin like `name`.
    fn with_pods(
        &self,
        name: &str,
        container: &Container,
        own: &ChartObject,
    ) -> Result<Target, Reason> {
        let name = container.known(name)?;
        let unknown = || Reason::NoWorkload(name.clone());
        let makes = |object: &ChartObject| {
            let pods = format!("{}-", text(&object.value, "/metadata/name"));
            let is_pod = object.value["kind"] == "Pod";
            !is_pod && own_pods(object).is_some() && pods.starts_with(&name)
        };
        let mut found = self.objects.iter().enumerate();
        let (at, object) = found.find(|it| makes(it.1)).ok_or_else(unknown)?;
        if found.any(|it| makes(it.1)) {
            return Err(unknown());
        }
        self.is_another(at, None, own)?;
        Ok(workload(at, object))
    }

    /// The index of the object of a kind by its name, in this namespace or in that of the release.
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

/// Whether the rest of a word is only the ending of a plural.
fn is_plural(rest: &str) -> bool {
    matches!(rest, "s" | "es")
}

/// Whether a name is made of the usual default for a host that the user gives: `localhost-primary`.
fn has_a_default(host: &str) -> bool {
    host.starts_with("localhost-")
}

fn of_address(name: String, of_values: bool) -> Target {
    Target {
        form: Form::Address { of_values },
        name,
        namespace: None,
        object: None,
        asks: None,
    }
}

fn pod(name: &str, namespace: Option<String>) -> Target {
    Target {
        form: Form::Object {
            kind: "pod".to_owned(),
            state: None,
        },
        name: name.to_owned(),
        namespace,
        object: None,
        asks: None,
    }
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
