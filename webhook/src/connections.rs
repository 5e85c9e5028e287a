//! Bounds the connections of a listener, and chooses the connection that makes room for a new one.
//!
//! There are two bounds: on all connections, so that memory is bounded, and on the connections of one client address,
//! so that a single pod does not take all places. Beyond a bound a newcomer gets the place of the connection with the
//! least merit. So no crowd of idle clients, of however many addresses, keeps another client out. Where a connection
//! whose request is being answered costs less than one that may still send anything, several of the former share a
//! place.

use crate::memory_alarm::MemoryAlarm;
use axum::http::Extensions;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The divisor of a listener's places while memory is nearly used up.
const LEAST: usize = 4;

/// The table of the open connections of one listener, which decides on places for new ones.
#[derive(Debug)]
pub(crate) struct Connections {
    bounds: Bounds,
    alarm: MemoryAlarm,
    places: Mutex<TakenPlaces>,
}

/// The bounds on the connections of one listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The places of the listener. Beyond them, a new connection replaces another.
    pub all: usize,
    /// The places of one client address. Beyond them, a new connection replaces another of that address.
    pub per_client: usize,
    /// The number of connections that share one place while their requests are being checked or answered.
    pub sharing: usize,
}

/// The place of one connection. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Connection {
    place: ConnectionPlace,
    lost: oneshot::Receiver<Lost>,
}

/// An extension of a request whose client has shown a certificate of a trusted CA.
#[derive(Debug, Clone, Copy)]
pub struct Certified;

/// The reason why a connection gets no place, or loses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The connection's client address holds too many places.
    Crowded,
    /// All places are taken, and this connection had the least merit.
    Outranked,
    /// All places are taken, and every connection has a request that is being answered.
    Full,
}

/// The place that a request came through. Clones refer to the same place.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionPlace {
    connections: Arc<Connections>,
    number: u64,
}

/// The worth of a connection. Connections of a lower merit are cut first; among equals, the one that has had its
/// merit for longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Merit {
    /// No valid request has come over the connection yet.
    Unproven,
    /// A request claims to be valid, such as by its token, and the claim is being checked.
    Claiming,
    /// A valid request was answered over the connection, and no other has come since.
    Idle,
    /// A valid request is being answered over the connection.
    Answering,
}

impl Merit {
    /// Returns whether a connection of this merit shares its place with others: its request is being checked or answered.
    fn shares(self) -> bool {
        matches!(self, Self::Claiming | Self::Answering)
    }
}

/// The merit of a connection, and the turn at which the connection reached it: ranks are unique.
type Rank = (Merit, u64);

#[derive(Debug, Default)]
struct TakenPlaces {
    /// The number of connections that came and of merits that changed so far, so that earlier and later ones can be told apart.
    turn: u64,
    held: HashMap<u64, TakenPlace>,
    all: Ranks,
    clients: HashMap<IpAddr, Ranks>,
}

/// The numbers of open connections, ordered by their ranks: those of the whole listener, or of one client address.
#[derive(Debug, Default)]
struct Ranks {
    ranks: BTreeMap<Rank, u64>,
    sharing: usize,
}

impl Ranks {
    fn insert(&mut self, rank: Rank, number: u64) {
        self.ranks.insert(rank, number);
        self.sharing += usize::from(rank.0.shares());
    }

    fn remove(&mut self, rank: Rank) {
        if self.ranks.remove(&rank).is_some() {
            self.sharing -= usize::from(rank.0.shares());
        }
    }

    /// Returns how many places the connections take, where `sharing` connections whose requests are being checked or answered share one.
    fn places(&self, sharing: usize) -> usize {
        self.ranks.len() - self.sharing + self.sharing.div_ceil(sharing)
    }

    /// Returns the connection of the lowest rank.
    fn first(&self) -> Option<(Rank, u64)> {
        let first = self.ranks.first_key_value();
        first.map(|(rank, number)| (*rank, *number))
    }
}

#[derive(Debug)]
struct TakenPlace {
    client: IpAddr,
    rank: Rank,
    cut: oneshot::Sender<Lost>,
}

/// Notes that a request claims to be valid, and that the claim is being checked. A connection that has proven itself by an earlier request keeps its
/// merit. Does nothing for a request without a connection, as in a test.
pub(crate) fn claims(extensions: &Extensions) {
    if let Some(place) = extensions.get::<ConnectionPlace>() {
        place.stands(Merit::Claiming);
    }
}

/// Notes that a request is valid: its body has arrived, or its token is accepted. The connection is not cut until the
/// answer is complete.
pub(crate) fn valid(extensions: &Extensions) {
    if let Some(place) = extensions.get::<ConnectionPlace>() {
        place.stands(Merit::Answering);
    }
}

impl Connections {
    /// Returns a listener's table of connections, still empty. While memory is nearly used up, as `alarm` tells, the bound on all is a quarter of
    /// what it is else.
    pub(crate) fn new(bounds: Bounds, alarm: MemoryAlarm) -> Arc<Self> {
        Arc::new(Self {
            bounds,
            alarm,
            places: Mutex::default(),
        })
    }

    /// Takes a place for a connection of `client`, if need be that of another connection. Fails where each connection that it could replace is
    /// answering a valid request.
    pub(crate) fn take(self: &Arc<Self>, client: IpAddr) -> Result<Connection, Lost> {
        let client = client.to_canonical();
        let mut places = self.lock();
        if let Some((first, lost)) = self.in_the_way(&places, client) {
            match first {
                ((Merit::Answering, _), _) if lost == Lost::Crowded => return Err(lost),
                ((Merit::Answering, _), _) => return Err(Lost::Full),
                (_, number) => places.cut(number, lost),
            }
        }
        let (cut, lost) = oneshot::channel();
        let place = ConnectionPlace {
            connections: Arc::clone(self),
            number: places.add(client, cut),
        };
        drop(places);
        Ok(Connection { place, lost })
    }

    /// Returns the connection of the lowest rank that a newcomer of `client` would replace, and the reason. `None` while a place is free.
    fn in_the_way(&self, places: &TakenPlaces, client: IpAddr) -> Option<((Rank, u64), Lost)> {
        let Bounds {
            all,
            per_client,
            sharing,
        } = self.bounds;
        let own = places.clients.get(&client);
        let crowd = own.filter(|own| own.places(sharing) >= per_client);
        if let Some(crowd) = crowd {
            return crowd.first().map(|it| (it, Lost::Crowded));
        }
        // No open connection is cut for the alarm's sake; only a newcomer replaces another.
        let all = if self.alarm.is_raised() {
            all / LEAST
        } else {
            all
        };
        let full = places.all.places(sharing) >= all;
        let first = places.all.first().filter(|_| full);
        first.map(|it| (it, Lost::Outranked))
    }

    fn lock(&self) -> MutexGuard<'_, TakenPlaces> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Returns the place of this connection among those of its listener.
    pub(crate) fn place(&self) -> ConnectionPlace {
        self.place.clone()
    }

    /// Waits until this connection has lost its place to another, and returns the reason.
    pub(crate) async fn lost(&mut self) -> Lost {
        match (&mut self.lost).await {
            Ok(lost) => lost,
            // Unreachable: only `cut` takes the sender away, and it sends.
            Err(_) => Lost::Outranked,
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.place.connections.lock().remove(self.place.number);
    }
}

impl ConnectionPlace {
    /// Notes that the request that came through the place is answered. The connection is idle then, or still unproven where no request of it was
    /// valid.
    pub(crate) fn answered(&self) {
        self.stands(Merit::Idle);
    }

    fn stands(&self, merit: Merit) {
        let mut places = self.connections.lock();
        let Some(held) = places.held.get(&self.number) else {
            return; // the place is lost
        };
        let (client, (before, _)) = (held.client, held.rank);
        let merit = match (before, merit) {
            // An answer to an invalid request proves nothing.
            (Merit::Unproven | Merit::Claiming, Merit::Idle) => Merit::Unproven,
            // A proven connection is worth more than a claim.
            (Merit::Idle, Merit::Claiming) => return,
            (_, merit) => merit,
        };
        places.unrank(self.number);
        places.rank(self.number, client, merit);
    }
}

impl TakenPlaces {
    fn add(&mut self, client: IpAddr, cut: oneshot::Sender<Lost>) -> u64 {
        self.turn += 1;
        let (number, rank) = (self.turn, (Merit::Unproven, self.turn));
        self.held.insert(number, TakenPlace { client, rank, cut });
        self.rank(number, client, Merit::Unproven);
        number
    }

    fn rank(&mut self, number: u64, client: IpAddr, merit: Merit) {
        self.turn += 1;
        // A connection that has proven nothing ranks by its age, even after a claim.
        let since = if merit == Merit::Unproven {
            number
        } else {
            self.turn
        };
        let rank = (merit, since);
        self.all.insert(rank, number);
        self.clients.entry(client).or_default().insert(rank, number);
        if let Some(held) = self.held.get_mut(&number) {
            held.rank = rank;
        }
    }

    fn unrank(&mut self, number: u64) {
        let Some(TakenPlace { client, rank, .. }) = self.held.get(&number) else {
            return;
        };
        self.all.remove(*rank);
        if let Some(own) = self.clients.get_mut(client) {
            own.remove(*rank);
            if own.ranks.is_empty() {
                self.clients.remove(client);
            }
        }
    }

    fn remove(&mut self, number: u64) -> Option<TakenPlace> {
        self.unrank(number);
        self.held.remove(&number)
    }

    fn cut(&mut self, number: u64, lost: Lost) {
        if let Some(held) = self.remove(number) {
            // A connection that ends by itself at this moment needs no message.
            let _ = held.cut.send(lost);
        }
    }
}

#[cfg(test)]
mod tests;
