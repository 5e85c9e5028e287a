//! Reads the DNS name of a Service, because charts have hosts where lists need names.

use super::piece::Piece;
use super::problem::{Flaw, Problem};
use crate::kinds::Kind;

/// The label behind the namespace in the DNS name of a Service.
const SVC: &str = "svc";

/// Returns the namespace and the name of an object of this kind as they are written, but for a Service with a DNS name: from `db.prod.svc`, or
/// `db.prod.svc.cluster.local` under any cluster domain, it reads both.
///
/// # Errors
///
/// The name of one pod of a Service, two namespaces, or a namespace without [`SVC`] behind it.
pub(super) fn parts<'t>(
    kind: &Kind,
    namespace: Option<Piece<'t>>,
    name: Piece<'t>,
) -> Result<(Option<Piece<'t>>, Piece<'t>), Flaw> {
    if !kind.is_service() {
        return Ok((namespace, name));
    }
    let labels: Vec<Piece<'_>> = name.split('.').take(4).collect();
    match labels.as_slice() {
        [plain, own, svc, ..] if svc.text == SVC => match namespace {
            Some(other) if other.text != own.text => Err(own.flaw(Problem::TwoNamespaces {
                name: name.text.to_owned(),
                own: own.text.to_owned(),
                other: other.text.to_owned(),
            })),
            _ => Ok((Some(*own), *plain)),
        },
        [pod, service, own, svc] if svc.text == SVC => {
            let [pod, service, own] = [pod.text, service.text, own.text];
            Err(name.flaw(Problem::PodOfService {
                pod: format!("{own}/pod/{pod}"),
                service: format!("{own}/service/{service}"),
            }))
        }
        // A resolver inside of the cluster takes `db.prod` for a Service in the namespace `prod`. The text may also begin the name of a
        // host outside, so the user decides.
        [service, own]
            if namespace.is_none() && !service.text.is_empty() && !own.text.is_empty() =>
        {
            Err(name.flaw(Problem::NamespaceBehind {
                name: name.text.to_owned(),
                service: service.text.to_owned(),
                namespace: own.text.to_owned(),
            }))
        }
        _ => Ok((namespace, name)),
    }
}
