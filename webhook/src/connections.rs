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
mod tests {
    use super::*;
    use futures::FutureExt;

    fn new(all: usize, per_client: usize, sharing: usize) -> Arc<Connections> {
        Connections::new(Bounds {
            all,
            per_client,
            sharing,
        })
    }

    fn take(connections: &Arc<Connections>, client: &str) -> Result<Connection, Lost> {
        connections.take(client.parse().unwrap())
    }

    fn lost(connection: &mut Connection) -> Option<Lost> {
        connection.lost().now_or_never()
    }

    fn answering(connection: &Connection) {
        connection.place().stands(Merit::Answering);
    }

    fn answered(connection: &Connection) {
        answering(connection);
        connection.place().answered();
    }

    #[tokio::test]
    async fn one_client_cannot_take_the_places_of_another() {
        let connections = new(10, 2, 1);
        let mut first = take(&connections, "10.0.0.1").unwrap();
        let mut second = take(&connections, "::ffff:10.0.0.1").unwrap();
        let mut other = take(&connections, "10.0.0.2").unwrap();
        let third = take(&connections, "10.0.0.1").unwrap();
        assert_eq!(lost(&mut first), Some(Lost::Crowded));
        assert_eq!((lost(&mut second), lost(&mut other)), (None, None));
        answering(&second);
        answering(&third);
        assert_eq!(take(&connections, "10.0.0.1").unwrap_err(), Lost::Crowded);
        drop(third);
        assert!(take(&connections, "10.0.0.1").is_ok());
    }

    #[tokio::test]
    async fn the_least_proven_goes_first_then_the_longest_idle_and_never_one_that_is_answered() {
        let connections = new(4, 4, 1);
        let mut held: Vec<Connection> = (0..4)
            .map(|number| take(&connections, &format!("10.0.0.{number}")).unwrap())
            .collect();
        answered(&held[0]);
        answering(&held[1]);
        answered(&held[2]);
        answered(&held[0]);
        // What is answered without being valid is as unproven as before.
        held[3].place().answered();
        for (expected, place) in [
            (Lost::Outranked, 3),
            (Lost::Outranked, 2),
            (Lost::Outranked, 0),
        ] {
            let newcomer = take(&connections, "10.0.0.9").unwrap();
            assert_eq!(lost(&mut held[place]), Some(expected), "{place}");
            answering(&newcomer);
            held.push(newcomer);
        }
        assert_eq!(take(&connections, "10.0.0.8").unwrap_err(), Lost::Full);
        assert_eq!(lost(&mut held[1]), None);
        held.pop();
        assert!(take(&connections, "10.0.0.8").is_ok());
    }

    #[tokio::test]
    async fn those_whose_requests_are_answered_share_places_and_no_others_do() {
        let connections = new(4, 3, 4);
        let waiting: Vec<Connection> = (0..12)
            .map(|number| {
                let one = take(&connections, &format!("10.0.0.{}", number % 2)).unwrap();
                answering(&one);
                one
            })
            .collect();
        let mut comes = take(&connections, "10.0.0.0").unwrap();
        // Its own take three places, and all four are taken.
        let next = take(&connections, "10.0.0.0").unwrap();
        assert_eq!(lost(&mut comes), Some(Lost::Crowded));
        let mut last = take(&connections, "10.0.0.3").unwrap();
        drop(next);
        answering(&last);
        assert_eq!(take(&connections, "10.0.0.3").unwrap_err(), Lost::Full);
        waiting[0].place().answered();
        // One that is idle makes room for two.
        assert!(take(&connections, "10.0.0.3").is_ok());
        assert_eq!(lost(&mut last), None);
    }

    #[tokio::test]
    async fn who_claims_shares_a_place_until_it_is_answered_and_outranks_who_has_said_nothing() {
        let connections = new(2, 2, 4);
        let claiming = |client: &str| {
            let one = take(&connections, client).unwrap();
            one.place().stands(Merit::Claiming);
            one
        };
        let mut crowd: Vec<Connection> =
            (0..4).map(|it| claiming(&format!("10.0.0.{it}"))).collect();
        let mut silent = take(&connections, "10.0.0.4").unwrap();
        crowd.push(claiming("10.0.0.5"));
        assert_eq!(lost(&mut silent), Some(Lost::Outranked));
        assert!(crowd.iter_mut().all(|one| lost(one).is_none()));
        answering(&crowd[0]);
        crowd[1].place().answered();
        // What was refused proves nothing, and the place is its own again.
        let _newcomer = take(&connections, "10.0.0.6").unwrap();
        assert_eq!(lost(&mut crowd[1]), Some(Lost::Outranked));
        assert_eq!(lost(&mut crowd[2]), None);
    }

    #[tokio::test]
    async fn whoever_has_left_is_forgotten() {
        let connections = new(1, 1, 1);
        let (first, second) = (
            take(&connections, "10.0.0.1").unwrap(),
            take(&connections, "10.0.0.2").unwrap(),
        );
        answering(&first);
        drop((first, second));
        let places = connections.lock();
        assert!(places.held.is_empty() && places.clients.is_empty() && places.all.ranks.is_empty());
    }
}
