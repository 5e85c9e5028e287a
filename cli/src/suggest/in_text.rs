//! Turns a wait in the text of a template into an entry, where Helm has not rendered the template.

use super::container::Container;
use super::host::{self, Host};
use super::mask::{Masked, is_masked};
use super::operands;
use super::outcome::{self, ListEntry, Outcome};
use super::reason::Reason;
use super::texts::{Texts, value_at};
use super::wait::{self, Address, For, NamedObject, Wait};
use serde_json::Value;

/// The texts around a wait in a template from which an entry is made.
pub(super) struct Context<'c> {
    pub(super) masked: &'c Masked,
    pub(super) container: &'c Container,
    pub(super) texts: &'c Texts,
    /// The actions that are open around the wait and not around its list. The entry gets these actions around it.
    pub(super) open: &'c [Vec<String>],
    /// The text of the file, whose actions set the variables of the template.
    pub(super) text: &'c str,
    /// Whether a host that comes from a value becomes an address that the gate tries. Otherwise the host becomes a Service.
    pub(super) by_address: bool,
    /// Whether the host of the entry counts as a Service even if a helper has another branch for a host outside of the cluster.
    pub(super) of_service: bool,
}

/// The port of a wait's address, in the form in which the text writes it; `None` for a wait that is for no address.
pub(super) fn port(context: &Context<'_>, wait: &Wait) -> Option<String> {
    match &wait.for_what {
        For::Address(address) => Some(context.masked.seen(&address.port)),
        _ => None,
    }
}

/// The port of a wait's address, in the form in which the text writes it. `None` where that form means something else in the list, or where
/// the wait is for no address.
pub(super) fn port_there(context: &Context<'_>, wait: &Wait) -> Option<String> {
    let For::Address(address) = &wait.for_what else {
        return None;
    };
    let known = context.container.known(&address.port).ok()?;
    context.expression(&known).ok()
}

/// The entry of a wait as an address that the gate tries, or `dns://NAME` for the look-up of a name. `None` for an address without a port, for an
/// HTTP request that logs in, for a text that means something else in the list, and for a wait that is for no host.
pub(super) fn as_address(context: &Context<'_>, wait: &Wait) -> Option<String> {
    match &wait.for_what {
        For::Address(address) => context.outside(address).ok()?,
        For::Name(name) => {
            let host = context.container.known(name).ok()?;
            Some(format!("dns://{}", context.expression(&host).ok()?))
        }
        _ => None,
    }
}

/// The entry `pod/NAME` of a wait whose host begins with the name of a pod, as in `queue-0.queue`; `None` for a wait that is for no host.
pub(super) fn pod(context: &Context<'_>, wait: &Wait) -> Option<String> {
    let (For::Address(Address { host, .. }) | For::Name(host)) = &wait.for_what else {
        return None;
    };
    let host = context.container.known(host).ok()?;
    let name = host.split('.').next()?;
    Some(format!("pod/{}", context.expression(name).ok()?))
}

impl Context<'_> {
    pub(super) fn resolve(&self, wait: &Wait) -> Outcome {
        let found = match &wait.for_what {
            For::Address(address) => self.address(address),
            For::Name(name) => self.named_host(name),
            For::Object(named) => self.object(named),
            For::Selected {
                kind,
                selector,
                namespace,
                same_node,
            } => self.selected(kind, selector, namespace.as_deref(), *same_node),
            For::Container(name) => Err(Reason::NoContainer(self.masked.seen(name))),
            For::PodsNamed(name) => Err(Reason::NoWorkload(self.masked.seen(name))),
            For::Migration => Err(Reason::NoMigration),
            For::Data(data) => Err(Reason::Data(data.program.clone())),
            For::File(path) if self.container.is_on_the_node(path) => {
                Err(Reason::NodeFile(self.masked.seen(path)))
            }
            For::File(_) => return Outcome::Itself,
            For::Nothing(reason) => Err(seen(reason, self.masked)),
        };
        match found {
            Ok(None) => Outcome::Itself,
            Ok(Some(entry)) => tried(entry),
            Err(reason) => Outcome::Left(reason),
        }
    }

    fn address(&self, address: &Address) -> Result<Option<ListEntry>, Reason> {
        let by_value =
            self.by_address && self.value(&self.container.known(&address.host)?).is_some();
        let entry = match self.host(&address.host, None) {
            Ok(entry) if !by_value => entry,
            Err(reason) if !by_value && !matches!(reason, Reason::Outside(_)) => {
                return Err(reason);
            }
            found => {
                let reason = found.err().unwrap_or(Reason::Outside(address.host.clone()));
                Some(self.outside(address)?.ok_or(reason)?)
            }
        };
        Ok(entry.map(|text| ListEntry {
            text,
            asks: Some(address.asks),
        }))
    }

    /// The entry for an address that the gate tries itself. `None` where the address has no port, and its scheme has no usual one. An error for an
    /// HTTP request that logs in and has to succeed, and for a text that means something else in the list.
    fn outside(&self, address: &Address) -> Result<Option<String>, Reason> {
        if address.logs_in && address.succeeds {
            return Err(Reason::LogsIn(self.masked.seen(&address.host)));
        }
        let known = Address {
            host: self.expression(&self.container.known(&address.host)?)?,
            port: self.expression(&self.container.known(&address.port)?)?,
            path: self.expression(&address.path)?,
            scheme: self.expression(&address.scheme)?,
            ..address.clone()
        };
        Ok(known.entry())
    }

    fn named_host(&self, name: &str) -> Result<Option<ListEntry>, Reason> {
        let entry = self.host(name, Some("present"))?;
        Ok(entry.map(ListEntry::new))
    }

    /// The entry for the Service of a host, or for the one pod that the host names; `None` where the host is the pod itself. An error for a host
    /// outside of the cluster, for one of two parts that may be a domain, and for one from an empty value.
    fn host(&self, text: &str, state: Option<&str>) -> Result<Option<String>, Reason> {
        let own = self.container.known(text)?;
        let shown = self.masked.seen(&own);
        if host::is_number(&own) {
            return Err(Reason::NoHost("it".to_owned()));
        }
        let value = self.value(&own);
        let known = match &value {
            None => own.clone(),
            Some(Value::String(value)) if !value.is_empty() => value.clone(),
            Some(_) => return Err(Reason::NoValue(shown)),
        };
        let seen = |text: &str| self.expression(text);
        match host::of(&known) {
            Host::Itself => Ok(None),
            Host::Outside => Err(Reason::Outside(self.masked.seen(&known))),
            Host::Two(name, second) => {
                let second = self.masked.seen(&second);
                if second.contains(".Release.Namespace") {
                    return Ok(Some(outcome::object(None, "service", &seen(&name)?, state)));
                }
                let (host, name) = (self.masked.seen(&known), self.masked.seen(&name));
                let entry = outcome::object(Some(&second), "service", &name, state);
                if second.to_lowercase().contains("namespace") {
                    return Ok(Some(entry));
                }
                Err(Reason::Ambiguous { host, entry })
            }
            Host::Service {
                name,
                namespace,
                pod,
            } => {
                // A value that holds only the name of the Service may stand in the entry as the value's own action.
                let name = if value.is_some() && namespace.is_none() {
                    own
                } else {
                    name
                };
                let (kind, name) = match &pod {
                    Some(pod) => ("pod", seen(pod)?),
                    None => ("service", seen(&name)?),
                };
                let namespace = namespace.map(|it| seen(&it)).transpose()?;
                let namespace = namespace.filter(|it| !it.contains(".Release.Namespace"));
                Ok(Some(outcome::object(
                    namespace.as_deref(),
                    kind,
                    &name,
                    state,
                )))
            }
        }
    }

    fn object(&self, named: &NamedObject) -> Result<Option<ListEntry>, Reason> {
        let name = self.container.known(&named.name)?;
        let name = self.expression(&name)?;
        let namespace = self.namespace(named.namespace.as_deref())?;
        if named.same_node {
            let kind = &named.kind;
            return Ok(Some(ListEntry::new(format!(
                "{{kind: {kind}, name: {name}, sameNode: true}}"
            ))));
        }
        let kind = self.expression(&named.kind)?;
        let text = outcome::object(namespace.as_deref(), &kind, &name, named.state);
        Ok(Some(ListEntry::new(text)))
    }

    fn selected(
        &self,
        kind: &str,
        selector: &str,
        namespace: Option<&str>,
        same_node: bool,
    ) -> Result<Option<ListEntry>, Reason> {
        let selector = self.expression(&self.container.known(selector)?)?;
        let namespace = self.namespace(namespace)?;
        let kind = wait::selected_kind(kind);
        Ok(Some(ListEntry::new(outcome::selected(
            namespace.as_deref(),
            kind,
            &selector,
            same_node,
        ))))
    }

    fn namespace(&self, namespace: Option<&str>) -> Result<Option<String>, Reason> {
        let Some(namespace) = namespace else {
            return Ok(None);
        };
        let is_own = |it: &str| {
            it.contains(".Release.Namespace") || it.to_uppercase().contains("NAMESPACE)")
        };
        let seen = self.masked.seen(namespace);
        if is_own(&seen) {
            return Ok(None);
        }
        Ok(Some(self.expression(&self.container.known(namespace)?)?))
    }

    /// A text with its masked actions put back; an error where an action means something else in the annotation.
    fn expression(&self, text: &str) -> Result<String, Reason> {
        let mut seen = self.masked.seen(text);
        if !is_masked(text) {
            return Ok(seen);
        }
        for action in actions(&seen.clone()) {
            let bound = || Reason::Bound(format!("{{{{ {action} }}}}"));
            let first = super::template::word(&action);
            if matches!(first, "if" | "else" | "end" | "with" | "range") {
                return Err(bound());
            }
            if self.of_service && !operands::is_of_root(&action) {
                return Err(bound());
            }
            if let Some(variable) = variable(&action) {
                let carried = self.open.iter().flatten().any(|it| it.contains(variable));
                let set = self.set(variable).filter(|_| action == variable);
                match set {
                    _ if carried => {}
                    Some(expression) => seen = seen.replace(variable, expression),
                    None => return Err(bound()),
                }
            }
            if let Some(helper) = helper(&action) {
                let body = self.texts.helper(helper).unwrap_or_default();
                let body_text: String = actions(body).concat();
                let is_outside = body_text.contains("else") && body_text.contains("xternal");
                let is_doubtful =
                    body.contains(".svc") || body_text.contains("quote") || is_outside;
                // An entry for the Service that was rendered is tried.
                if is_doubtful && !self.of_service {
                    return Err(bound());
                }
                if body_text.contains("quote") {
                    let whole = format!("{{{{ {action} }}}}");
                    let bare = format!("{{{{ {action} | trimAll \"\\\"\" }}}}");
                    seen = seen.replace(&whole, &bare);
                }
            }
        }
        Ok(seen.replace("{{ template ", "{{ include "))
    }

    /// The expression that the template assigns to a variable; `None` where the template assigns it more than once, or never.
    fn set(&self, variable: &str) -> Option<&str> {
        let needle = format!("{variable} :=");
        let mut found = self.text.match_indices(&needle).map(|(at, it)| {
            let rest = &self.text[at + it.len()..];
            let end = rest.find("}}").unwrap_or(rest.len());
            rest[..end].trim_end_matches('-').trim()
        });
        let first = found.next();
        let is_changed = self.text.contains(&format!("{variable} = "));
        first.filter(|_| found.next().is_none() && !is_changed)
    }

    /// The chart's value for a text that is nothing but one value, such as `{{ .Values.db.host }}`. `Null` where the chart has no such
    /// value; `None` for another text.
    fn value(&self, text: &str) -> Option<Value> {
        let seen = self.masked.seen(text);
        let inner = seen.strip_prefix("{{ ")?.strip_suffix(" }}")?;
        let path = inner
            .split('|')
            .next()?
            .trim()
            .trim_start_matches('$')
            .strip_prefix(".Values.")?;
        let plain = path
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, '.' | '_'));
        let value = || value_at(&self.texts.values, path);
        plain.then(|| value().cloned().unwrap_or_default())
    }
}

/// The text of each action, without the braces, and without the dashes and spaces at its ends.
pub(super) fn actions(text: &str) -> Vec<String> {
    let parts = text.split("{{").skip(1);
    let inside = parts.filter_map(|it| it.split_once("}}"));
    inside
        .map(|(it, _)| it.trim_matches(['-', ' ']).to_owned())
        .collect()
}

/// The first variable of the template that an action reads, with its `$`; `None` without one. `$` itself does not count.
fn variable(action: &str) -> Option<&str> {
    let at = action
        .match_indices('$')
        .find(|(at, _)| action[at + 1..].starts_with(|it: char| it.is_ascii_alphabetic()))?;
    let rest = &action[at.0..];
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '$');
    let end = rest.find(|it| !is_name(it)).unwrap_or(rest.len());
    Some(&rest[..end])
}

/// The name of the helper that an action includes; `None` for an action that does not begin with `include` or `template`.
fn helper(action: &str) -> Option<&str> {
    let rest = ["include \"", "template \""]
        .iter()
        .find_map(|it| action.strip_prefix(it))?;
    rest.split('"').next()
}

/// A reason with its masked actions put back, so that a message can show it.
fn seen(reason: &Reason, masked: &Masked) -> Reason {
    match reason {
        Reason::Secret(name) => Reason::Secret(masked.seen(name)),
        Reason::Ping(host) => Reason::Ping(masked.seen(host)),
        Reason::NoHost(program) => Reason::NoHost(masked.seen(program)),
        other => other.clone(),
    }
}

/// The outcome of a wait for which `entry` was found: the entry if the parser of admission accepts it, or else the reason why the wait is left.
/// For that test a name takes the place of each action.
fn tried(entry: ListEntry) -> Outcome {
    let text = super::mask::mask(&entry.text).stand_in();
    let text = match text.strip_prefix("x://") {
        Some(rest) => format!("http://{rest}"),
        None => text,
    };
    match super::tried::entry(&text) {
        Ok(()) => Outcome::Entry(entry),
        Err(reason) => Outcome::Left(match reason {
            Reason::Kind(_) => Reason::Kind(entry.text),
            Reason::Refused { why, .. } => Reason::Refused {
                entry: entry.text,
                why,
            },
            other => other,
        }),
    }
}
