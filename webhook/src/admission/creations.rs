//! Held creations at the boundary: the client of a review, the tries before it, and the answer to it.

use super::callers::AddressBlock;
use super::review::AdmissionRequest;
use super::room::Sender;
use crate::clock::Clock;
use crate::inject::creation::{self, HoldRequest};
use crate::inject::{self, Action, Decision, Deny, Operation, Options, Subject};
use crate::known::{Known, NoCreationRoom};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// The longest wait for the first look at a held creation: the status service looks at once, unless its namespace has many waits.
const FIRST_LOOK: Duration = Duration::from_millis(250);

/// The part of admission that holds creations: it refuses a creation, and has its client try again, until the list of the object is satisfied.
#[derive(Debug)]
pub struct CreationHolds {
    /// The addresses whose clients count as API servers even without a certificate.
    pub api_servers: Vec<AddressBlock>,
    /// The objects that this replica knows, and the held creations, which the status service judges.
    pub known: Arc<Known>,
    /// The clock by which timeouts count.
    pub clock: Clock,
}

impl CreationHolds {
    /// Whether the administrator takes the clients at an address for API servers.
    fn is_api_server(&self, address: IpAddr) -> bool {
        self.api_servers.iter().any(|it| it.contains(address))
    }

    /// Decides whether an object may be created now. A request that asks for no hold, or whose annotations cannot be read, is decided on at once. Any
    /// other is judged if it comes from an API server, by its certificate or address; else it is refused, since its client would learn how the
    /// objects of a namespace stand.
    pub(super) async fn decide(
        &self,
        request: &AdmissionRequest,
        operation: Operation,
        subject: &Subject,
        options: Options,
        sender: Sender,
    ) -> Decision {
        let is_dry_run = request.dry_run == Some(true);
        let request = inject::Request {
            operation,
            subject,
            object: &request.object,
            old: &request.old_object,
        };
        let held = match creation::read(&request, options, is_dry_run) {
            Ok(held) => held,
            Err(decision) => return decision,
        };
        // A request names its own namespace, and any client may send one: it would learn how the objects of that namespace stand.
        if sender.certified || self.is_api_server(sender.address) {
            self.answer(&held).await
        } else {
            Deny::NoApiServer(sender.address).into()
        }
    }

    /// Answers one try to create an object, by the tries before it and the standing that the status service has found: it may be created, is refused,
    /// or its client is to try again later, as also where its namespace has no room to hold it. A creation that need not be tried again is forgotten.
    async fn answer(&self, held: &HoldRequest<'_>) -> Decision {
        let (creations, now) = (self.known.creations(), self.clock.now());
        let make = || held.dependent(now);
        let tried = creations.tried(held.key.clone(), held.namespace(), make, now);
        let creation = match tried {
            Ok(creation) => creation,
            Err(NoCreationRoom(share)) => return creation::no_room(share),
        };
        let standing = creation.stands(FIRST_LOOK).await;
        let decision = creation::answer(standing, creation.count(), self.clock.now());
        match &decision.action {
            Action::Deny(deny) if let Some(pause) = deny.retry_after() => {
                creation.expects(Duration::from_secs(pause.unsigned_abs()));
            }
            _ => creations.end(&creation),
        }
        decision
    }
}
