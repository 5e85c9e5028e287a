//! Finds the Service or the pod that has the host of a wait.

use super::outside::has_a_default;
use super::{Resolved, World};
use crate::suggest::container::Container;
use crate::suggest::host::{self, Host};
use crate::suggest::object::ChartObject;
use crate::suggest::outcome;
use crate::suggest::reason::Reason;
use crate::suggest::target::{Form, Target};
use crate::suggest::wait::Address;

impl World<'_> {
    pub(super) fn host(
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
    pub(super) fn is_named_by_its_pods(&self, target: &Target) -> bool {
        let Some(at) = target.object else {
            return target.name.ends_with("-headless");
        };
        let spec = &self.objects[at].value["spec"];
        spec["clusterIP"] == "None" && spec["publishNotReadyAddresses"] != true
    }

    /// The target of a Service by its name, in `namespace`, or without one in that of the waiting workload. A Service that is not rendered is a
    /// target, too; the name of a StatefulSet's pod stands for the pod. An error for one that is not rendered and whose name the chart's values hold,
    /// and for one that may never be ready for the waiting workload, such as that of its own pods.
    pub(super) fn service(
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
