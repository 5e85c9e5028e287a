//! Who may hold how many connections of a listener, and who has to go when somebody comes.
//!
//! Two bounds: on all connections, so that memory is bounded, and on those of one client address, so that a single pod
//! does not take the places of all. Beyond a bound the newcomer gets the place of whoever has proven the least: so no
//! crowd of idle clients, of however many addresses, keeps anybody out. Where one whose request is being answered costs less than
//! one that may yet send anything, several of those share a place.

use axum::http::Extensions;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The connections of one listener.
#[derive(Debug)]
pub(crate) struct Connections {
    bounds: Bounds,
    places: Mutex<Places>,
}

/// How many connections a listener may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Places at a time. For one more connection, another has to go.
    pub all: usize,
    /// Places of one client address at a time; the same.
    pub per_client: usize,
    /// How many connections share a place while their requests are being answered.
    pub sharing: usize,
}

/// One connection's place; free again when dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    place: Place,
    lost: oneshot::Receiver<Lost>,
}

/// The mark of a request whose client has shown a certificate that one of those signed who may. An extension of it.
#[derive(Debug, Clone, Copy)]
pub struct Certified;

/// Why there is no place for a connection, or no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Its address holds too many.
    Crowded,
    /// All places are taken, and it had proven the least: it made room for another.
    Outranked,
    /// All places are taken, and a request is being answered on every one of them.
    Full,
}

/// Which place a request came through. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    connections: Arc<Connections>,
    number: u64,
}

/// Later ones are kept longer; of the same merit, the one that has had it for longest goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Merit {
    /// No valid request has come yet.
    Unproven,
    /// A request is being answered that claims to be of one who may ask. Whether it is, is being found out.
    Claiming,
    /// A valid request was answered.
    Idle,
    /// A valid request is being answered.
    Answering,
}

impl Merit {
    /// Whether nothing more is expected than the end of an answer.
    fn shares(self) -> bool {
        matches!(self, Self::Claiming | Self::Answering)
    }
}

/// The merit, and at which turn it was reached: no two are alike.
type Rank = (Merit, u64);

#[derive(Debug, Default)]
struct Places {
    /// Counts what happens here, and so tells earlier from later.
    turn: u64,
    held: HashMap<u64, Held>,
    all: Ranks,
    clients: HashMap<IpAddr, Ranks>,
}

/// Numbers of connections by their rank.
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

    /// How many places they take.
    fn places(&self, sharing: usize) -> usize {
        self.ranks.len() - self.sharing + self.sharing.div_ceil(sharing)
    }

    /// The one that has proven the least.
    fn first(&self) -> Option<(Rank, u64)> {
        let first = self.ranks.first_key_value();
        first.map(|(rank, number)| (*rank, *number))
    }
}

#[derive(Debug)]
struct Held {
    client: IpAddr,
    rank: Rank,
    cut: oneshot::Sender<Lost>,
}

/// Notes that a request claims to be valid, and that this is being found out.
pub(crate) fn claims(extensions: &Extensions) {
    if let Some(place) = extensions.get::<Place>() {
        place.stands(Merit::Claiming);
    }
}

/// Notes that a request is valid: its body has come, or its token is accepted. Until it is answered its connection is not
/// cut for another one.
pub(crate) fn valid(extensions: &Extensions) {
    if let Some(place) = extensions.get::<Place>() {
        place.stands(Merit::Answering);
    }
}

impl Connections {
    pub(crate) fn new(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self {
            bounds,
            places: Mutex::default(),
        })
    }

    /// A place for a connection of `client`, if need be that of another one.
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
        let place = Place {
            connections: Arc::clone(self),
            number: places.add(client, cut),
        };
        drop(places);
        Ok(Connection { place, lost })
    }

    /// Who holds the place that a newcomer needs, where there is no other, and why that one would lose it.
    fn in_the_way(&self, places: &Places, client: IpAddr) -> Option<((Rank, u64), Lost)> {
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
        let full = places.all.places(sharing) >= all;
        let first = places.all.first().filter(|_| full);
        first.map(|it| (it, Lost::Outranked))
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Which place this is.
    pub(crate) fn place(&self) -> Place {
        self.place.clone()
    }

    /// Returns when the place is needed for another one.
    pub(crate) async fn lost(&mut self) -> Lost {
        match (&mut self.lost).await {
            Ok(lost) => lost,
            // Nobody else takes the sender away than whoever uses it.
            Err(_) => Lost::Outranked,
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.place.connections.lock().remove(self.place.number);
    }
}

impl Place {
    /// The request is answered, whatever it was.
    pub(crate) fn answered(&self) {
        self.stands(Merit::Idle);
    }

    fn stands(&self, merit: Merit) {
        let mut places = self.connections.lock();
        let Some(held) = places.held.get(&self.number) else {
            return; // it has lost its place
        };
        let (client, (before, _)) = (held.client, held.rank);
        let merit = match (before, merit) {
            // An answer to what was not valid proves nothing.
            (Merit::Unproven | Merit::Claiming, Merit::Idle) => Merit::Unproven,
            // What was proven once is worth more than a claim.
            (Merit::Idle, Merit::Claiming) => return,
            (_, merit) => merit,
        };
        places.unrank(self.number);
        places.rank(self.number, client, merit);
    }
}

impl Places {
    fn add(&mut self, client: IpAddr, cut: oneshot::Sender<Lost>) -> u64 {
        self.turn += 1;
        let (number, rank) = (self.turn, (Merit::Unproven, self.turn));
        self.held.insert(number, Held { client, rank, cut });
        self.rank(number, client, Merit::Unproven);
        number
    }

    fn rank(&mut self, number: u64, client: IpAddr, merit: Merit) {
        self.turn += 1;
        // Who has proven nothing is as old as its connection, whatever it has claimed.
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
        let Some(Held { client, rank, .. }) = self.held.get(&number) else {
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

    fn remove(&mut self, number: u64) -> Option<Held> {
        self.unrank(number);
        self.held.remove(&number)
    }

    fn cut(&mut self, number: u64, lost: Lost) {
        if let Some(held) = self.remove(number) {
            // Who ends by itself in this moment needs no telling.
            let _ = held.cut.send(lost);
        }
    }
}

#[cfg(test)]
mod tests;
