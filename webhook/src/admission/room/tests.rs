use super::super::bodies::Bodies as Reader;
use super::super::limits::AdmissionLimits;
use super::super::refusal::Refusal;
use super::*;
use crate::memory_alarm::MemoryAlarm;
use axum::body::{Body as HttpBody, Bytes as Chunk};
use futures::{StreamExt, stream};
use std::convert::Infallible;
use std::net::Ipv4Addr;
use tokio::time::sleep;

const MIB: usize = 1 << 20;

fn sender(last: u8, certified: bool) -> Sender {
    let address = Ipv4Addr::new(10, 0, 0, last).into();
    Sender { address, certified }
}

/// Reads a body that arrives in `pieces`, with a pause before each, and returns its length. A body that is not `whole` hangs at its end, and is
/// refused at the deadline.
async fn read(
    reader: Arc<Reader>,
    sender: Sender,
    pieces: Vec<(Duration, usize)>,
    whole: bool,
) -> Result<usize, Refusal> {
    let pieces = stream::iter(pieces).then(async |(pause, bytes)| {
        sleep(pause).await;
        Ok::<_, Infallible>(Chunk::from(vec![b' '; bytes]))
    });
    let body = if whole {
        HttpBody::from_stream(pieces)
    } else {
        HttpBody::from_stream(pieces.chain(stream::pending()))
    };
    let until = Instant::now() + reader.limits.deadline;
    let mut chunks = body.into_data_stream();
    let read = tokio::time::timeout_at(until, reader.read(0, sender, &mut chunks, until)).await;
    let (bytes, _held) = read.unwrap_or(Err(Refusal::Slow))?;
    Ok(bytes.len())
}

fn reader() -> Arc<Reader> {
    Arc::new(Reader::new(
        AdmissionLimits::default().within(256 << 20),
        MemoryAlarm::default(),
    ))
}

/// Starts `connections` clients of one sender, each of which sends these pieces of a body, hangs, and begins again when it is refused.
fn besiege(reader: &Arc<Reader>, sender: Sender, connections: usize, pieces: &[(Duration, usize)]) {
    for _ in 0..connections {
        let (reader, pieces) = (Arc::clone(reader), pieces.to_vec());
        tokio::spawn(async move {
            loop {
                let _ = read(Arc::clone(&reader), sender, pieces.clone(), false).await;
                sleep(Duration::from_millis(10)).await;
            }
        });
    }
}

/// Sends 64 reviews one after the other, with pauses of 50 ms, and counts the refused ones.
async fn refused(reader: &Arc<Reader>, sender: Sender) -> usize {
    let mut refused = 0;
    for number in 0..64_usize {
        let bytes = [5, 100, 300, 900][number % 4] * 1024;
        let piece = bytes / 4;
        let pieces = vec![(Duration::from_millis(1), piece); 4];
        let answer = read(Arc::clone(reader), sender, pieces, true).await;
        refused += usize::from(answer.is_err());
        sleep(Duration::from_millis(50)).await;
    }
    refused
}

#[tokio::test(start_paused = true)]
async fn one_client_with_slow_bodies_has_nobody_elses_refused() {
    let at_once = [(Duration::ZERO, 1_040_000)];
    let drips = [(Duration::from_millis(100), 60_000); 17];
    let fast = [(Duration::from_millis(100), 100_000); 10];
    for pieces in [&at_once[..], &drips, &fast] {
        for certified in [false, true] {
            let reader = reader();
            besiege(&reader, sender(1, false), 48, pieces);
            sleep(Duration::from_millis(500)).await;
            assert_eq!(refused(&reader, sender(2, certified)).await, 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_review_needs_room_beside_what_is_in_use() {
    let alarm = MemoryAlarm::default();
    let limits = AdmissionLimits::default().within(256 << 20);
    let reader = Arc::new(Reader::new(limits, alarm.clone()));
    let review = async |bytes| {
        let pieces = vec![(Duration::ZERO, bytes)];
        read(Arc::clone(&reader), sender(1, true), pieces, true).await
    };
    assert_eq!(review(2 * MIB).await.unwrap(), 2 * MIB);
    alarm.set(240 << 20, 256 << 20);
    assert!(matches!(review(2 * MIB).await, Err(Refusal::Scarce)));
    assert!(review(MIB / 2).await.is_ok());
    alarm.set(100 << 20, 256 << 20);
    assert!(review(2 * MIB).await.is_ok());
}

/// The bytes of a review that have arrived are in use, so they need no room once more.
#[tokio::test(start_paused = true)]
async fn a_large_review_needs_room_for_what_is_to_come_alone() {
    let alarm = MemoryAlarm::default();
    let reader = Arc::new(Reader::new(AdmissionLimits::default(), alarm.clone()));
    // Objects may fill 95 of 100 MiB, and the longest review takes 7.
    let arrived = |mebibytes: u64| alarm.set((88 + mebibytes) << 20, 100 << 20);
    let pause = Duration::from_millis(100);
    let review = read(reader, sender(1, true), vec![(pause, MIB); 7], true);
    let looks = async {
        for mebibytes in 0..7 {
            arrived(mebibytes);
            sleep(pause).await;
        }
    };
    let (answer, ()) = tokio::join!(review, looks);
    assert_eq!(answer.unwrap(), 7 * MIB);
}

/// Fourteen large bodies of one fast client cut the bodies of a client that hangs, and are all read. A single API server sends like this.
#[tokio::test(start_paused = true)]
async fn many_fast_bodies_of_one_client_make_room_for_nobody() {
    let reader = reader();
    besiege(
        &reader,
        sender(1, false),
        48,
        &[(Duration::ZERO, 1_040_000)],
    );
    sleep(Duration::from_millis(500)).await;
    let many = (0..14).map(|_| {
        let pieces = vec![(Duration::from_millis(10), MIB / 10); 10];
        read(Arc::clone(&reader), sender(2, false), pieces, true)
    });
    let answers = futures::future::join_all(many).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
}

/// A body of the address with the most memory is cut where all bodies keep the pace. A body with a certificate comes before all without.
#[test]
fn of_those_in_time_one_of_the_largest_goes() {
    let (room, start) = (Room::new(4 * MIB), Instant::now());
    let enter_at = |now, last, certified, bytes| {
        let part = room.enter(sender(last, certified), now);
        let grown = part.grow(bytes, bytes, now);
        grown.map(|()| part)
    };
    let large: Vec<Part> = (0..3)
        .map(|_| enter_at(start, 1, false, MIB).unwrap())
        .collect();
    let later = start + PATIENCE / 2;
    let enter = |last, certified, bytes| enter_at(later, last, certified, bytes);
    let certified = enter(3, true, MIB).unwrap();
    assert_eq!(
        enter(1, false, MIB).err(),
        Some(NoRoom),
        "it holds the most itself"
    );
    let fair = enter(2, false, MIB).unwrap();
    assert_eq!(large.iter().filter(|it| !it.whole()).count(), 1);
    assert!(fair.whole() && certified.whole());
    assert_eq!(enter(2, false, MIB).err(), Some(NoRoom), "all are answered");
    drop(large);
    assert!(enter(1, false, 2 * MIB).is_ok());
}
