//! Simulates gates that come to replicas, which send their reviews to the API server: queues in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// The busy share of all processors of a replica or of the API server, from 0 to 1.
pub(super) type Share = f64;

/// Reviews that one replica has under way, as `webhook/src/status/identity.rs` bounds them.
const REVIEWS: u64 = 16;

/// Gates that arrive, and the costs of an arrival.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrivals {
    pub(super) gates: u64,
    pub(super) replicas: u64,
    pub(super) cores: u64,
    pub(super) api_cores: u64,
    /// The time within which all gates arrive.
    pub(super) within: Duration,
    /// The processor time of a replica for each gate.
    pub(super) cost: Duration,
    /// The processor time of the API server for each gate.
    pub(super) review: Duration,
}

/// The moment at which the last gate waits, and how busy the processors were until then.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) last: Duration,
    /// The busy share of the busiest replica's processors.
    pub(super) replica: Share,
    pub(super) api_server: Share,
}

/// Processors that do work in the order in which it comes.
struct Queue {
    free: BinaryHeap<Reverse<Duration>>,
    busy: Duration,
}

impl Queue {
    fn of(cores: u64) -> Self {
        Self {
            free: (0..cores).map(|_| Reverse(Duration::ZERO)).collect(),
            busy: Duration::ZERO,
        }
    }

    /// Gives a piece of work that comes at `now` and takes `cost` to the processor that is free first, and returns the moment at which the work is
    /// done. Calls come in the order of `now`.
    fn serve(&mut self, now: Duration, cost: Duration) -> Duration {
        let free = self.free.pop().map_or(now, |Reverse(free)| free);
        let end = free.max(now) + cost;
        self.free.push(Reverse(end));
        self.busy += cost;
        end
    }
}

struct Replica {
    queue: Queue,
    reviews: u64,
    /// The number of gates whose token is not under review yet, since the replica has the most reviews under way.
    queued: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Reviewed,
    Read,
    Comes,
}

impl Arrivals {
    pub(super) fn run(&self) -> End {
        let mut api = Queue::of(self.api_cores);
        let mut replicas: Vec<Replica> = (0..self.replicas)
            .map(|_| Replica {
                queue: Queue::of(self.cores),
                reviews: 0,
                queued: 0,
            })
            .collect();
        let mut steps: BinaryHeap<Reverse<(Duration, Step, usize)>> = BinaryHeap::new();
        for (number, replica) in chosen(self.gates, self.replicas).enumerate() {
            let part = u32::try_from(self.gates).unwrap_or(u32::MAX);
            let at = self.within / part * u32::try_from(number).unwrap_or(u32::MAX);
            steps.push(Reverse((at, Step::Comes, replica)));
        }
        let mut last = Duration::ZERO;
        while let Some(Reverse((now, step, number))) = steps.pop() {
            let replica = &mut replicas[number];
            match step {
                Step::Comes => {
                    let read = replica.queue.serve(now, self.cost);
                    steps.push(Reverse((read, Step::Read, number)));
                    continue;
                }
                Step::Read if replica.reviews == REVIEWS => {
                    replica.queued += 1;
                    continue;
                }
                Step::Read => replica.reviews += 1,
                Step::Reviewed => {
                    last = now;
                    if replica.queued == 0 {
                        replica.reviews -= 1;
                        continue;
                    }
                    replica.queued -= 1;
                }
            }
            let reviewed = api.serve(now, self.review);
            steps.push(Reverse((reviewed, Step::Reviewed, number)));
        }
        let busy = replicas.iter().map(|it| it.queue.busy).max();
        let of = |busy: Duration, cores: u64| {
            busy.as_secs_f64() / last.as_secs_f64() / crate::measure::as_number(cores)
        };
        End {
            last,
            replica: of(busy.unwrap_or_default(), self.cores),
            api_server: of(api.busy, self.api_cores),
        }
    }
}

/// Returns the number of the replica of each gate, as a ClusterIP chooses it: by chance, but equal in each run.
fn chosen(gates: u64, replicas: u64) -> impl Iterator<Item = usize> {
    (0..gates).map(move |number| usize::try_from(mixed(number) % replicas).unwrap_or_default())
}

/// Returns the number of gates of the replica that gets the most.
pub(super) fn most(gates: u64, replicas: u64) -> u64 {
    let mut counts = vec![0; usize::try_from(replicas).unwrap_or_default()];
    chosen(gates, replicas).for_each(|replica| counts[replica] += 1);
    counts.into_iter().max().unwrap_or_default()
}

/// Returns a number that looks like chance, but is equal for equal input: SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
/// Generators, 2014).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    fn arrivals(replicas: u64, cost: Duration, review: Duration) -> Arrivals {
        Arrivals {
            gates: 1000,
            replicas,
            cores: 1,
            api_cores: 1,
            within: Duration::ZERO,
            cost,
            review,
        }
    }

    #[test]
    fn what_is_slowest_says_when_the_last_one_waits() {
        // One replica, whose processor is the slowest: a thousand times its cost, and the last review.
        let end = arrivals(1, MILLI, MILLI / 10).run();
        assert_eq!(end.last, MILLI * 1000 + MILLI / 10);
        assert!(end.replica > 0.99 && end.api_server < 0.11, "{end:?}");
        // Several, and then the API server is.
        let end = arrivals(10, MILLI / 10, MILLI).run();
        assert_eq!(end.last, MILLI / 10 + MILLI * 1000);
        assert!(end.api_server > 0.99 && end.replica < 0.02, "{end:?}");
    }

    #[test]
    fn no_more_reviews_are_under_way_than_a_replica_may_have() {
        let few = Arrivals {
            api_cores: 1000,
            ..arrivals(1, Duration::ZERO, MILLI)
        };
        assert_eq!(few.run().last, MILLI * 1000_u32.div_ceil(16));
    }

    #[test]
    fn chance_is_uneven_and_the_same_each_time() {
        let most = super::most(10_000, 5);
        assert!((2001..2200).contains(&most), "{most}");
        assert_eq!(most, super::most(10_000, 5));
        assert_eq!(super::most(10_000, 1), 10_000);
    }
}
