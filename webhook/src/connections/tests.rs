use super::*;
use futures::FutureExt;

fn new(all: usize, per_client: usize, sharing: usize) -> Arc<Connections> {
    let bounds = Bounds {
        all,
        per_client,
        sharing,
    };
    Connections::new(bounds, MemoryAlarm::default())
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
    // An answer to an invalid request leaves the connection unproven.
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
    // The client's own connections take three places, and all four are taken.
    let next = take(&connections, "10.0.0.0").unwrap();
    assert_eq!(lost(&mut comes), Some(Lost::Crowded));
    let mut last = take(&connections, "10.0.0.3").unwrap();
    drop(next);
    answering(&last);
    assert_eq!(take(&connections, "10.0.0.3").unwrap_err(), Lost::Full);
    waiting[0].place().answered();
    // An idle connection makes room for two that share a place.
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
    let mut crowd: Vec<Connection> = (0..4).map(|it| claiming(&format!("10.0.0.{it}"))).collect();
    let mut silent = take(&connections, "10.0.0.4").unwrap();
    crowd.push(claiming("10.0.0.5"));
    assert_eq!(lost(&mut silent), Some(Lost::Outranked));
    assert!(crowd.iter_mut().all(|one| lost(one).is_none()));
    answering(&crowd[0]);
    crowd[1].place().answered();
    // A refused claim proves nothing, and the connection has a place of its own again.
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

#[tokio::test]
async fn while_memory_is_nearly_used_up_a_newcomer_takes_the_place_of_another() {
    let connections = new(12, 12, 1);
    let taken = |last: u8| take(&connections, &format!("10.0.0.{last}")).unwrap();
    let [mut idle, mut first, mut second] = [1, 2, 3].map(taken);
    answering(&first);
    answering(&second);
    connections.alarm.set(95, 100);
    let newcomer = taken(4);
    assert_eq!(lost(&mut idle), Some(Lost::Outranked));
    answering(&newcomer);
    assert_eq!(take(&connections, "10.0.0.5").unwrap_err(), Lost::Full);
    assert_eq!((lost(&mut first), lost(&mut second)), (None, None));
    connections.alarm.set(50, 100);
    assert!(take(&connections, "10.0.0.5").is_ok());
}
