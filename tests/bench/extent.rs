//! The extent of a run: how often each part is measured, and with how many objects.

use crate::Part;
use crate::injectors::Reach;
use crate::kubectl::Waiters;
use crate::objects::Objects;
use std::time::Duration;

/// How often each part is measured, and with how many objects.
pub(crate) struct Extent {
    /// The parts that are measured only where the caller names them.
    pub(crate) without: &'static [Part],
    /// Gates that wait at a time, more than most clusters ever have.
    pub(crate) gates: usize,
    /// Numbers of gates that are released, and how often each.
    pub(crate) releases: [(usize, usize); 3],
    /// The number of gates that wait for one address.
    pub(crate) addresses: usize,
    /// The numbers of gates that are released beside the gate's peers, and how often each.
    pub(crate) waiters: Waiters,
    /// Numbers of gates that wait for a pod that fits on no node, fewest first.
    pub(crate) unschedulable: &'static [usize],
    /// Numbers of gates that are tasks, fewest first.
    pub(crate) crowds: &'static [usize],
    /// The number of pods whose gates have opened.
    pub(crate) passed: usize,
    /// The number of pods whose images are pulled while their gates wait.
    pub(crate) pulls: usize,
    /// The number of gates on two replicas.
    pub(crate) replicas: usize,
    /// The objects of a kind that a dependent names.
    pub(crate) objects: Objects,
    /// The time for which requests are counted.
    pub(crate) window: Duration,
    /// The number of pods for which requests of each sort are sent to the API server.
    pub(crate) pods: usize,
    /// The reviews that the peer of admission gets too.
    pub(crate) beside: Reach,
    /// The number of creations that are held at once.
    pub(crate) creations: usize,
    /// The number of starts of a gate that may go through at once.
    pub(crate) starts: usize,
}

/// The extent of a whole run: less than half an hour, and some minutes more for each of the parts that are left out.
pub(crate) const WHOLE: Extent = Extent {
    without: &[
        Part::Creations,
        Part::Addresses,
        Part::Passed,
        Part::Prefetch,
        Part::Replicas,
    ],
    gates: 500,
    releases: [(500, 4), (20, 10), (1, 30)],
    addresses: 1000,
    waiters: Waiters {
        releases: &[(1, 5), (20, 3), (100, 1)],
        window: Duration::from_secs(30),
    },
    unschedulable: &[1000, 2000],
    crowds: &[1000, 10_000],
    passed: 20_000,
    pulls: 3,
    // A process may often have no more than 20,000 files open.
    replicas: 19_800,
    objects: Objects {
        counts: &[1000, 5000, 20_000],
        rates: &[
            (10, Duration::from_secs(20)),
            (100, Duration::from_secs(6)),
            (1000, Duration::from_secs(4)),
        ],
    },
    window: Duration::from_secs(30),
    pods: 500,
    beside: Reach {
        whole: true,
        turn: Duration::from_secs(2),
    },
    creations: 500,
    starts: 100,
};

/// The extent of a quick run of three minutes. It leaves out the longest parts; gates as processes show the same.
pub(crate) const QUICK: Extent = Extent {
    without: &[
        Part::Addresses,
        Part::Creations,
        Part::Waiters,
        Part::Unschedulable,
        Part::Crowds,
        Part::Passed,
        Part::Prefetch,
        Part::Replicas,
    ],
    gates: 60,
    releases: [(60, 2), (20, 2), (1, 5)],
    addresses: 60,
    waiters: Waiters {
        releases: &[(20, 2)],
        window: Duration::from_secs(10),
    },
    unschedulable: &[200],
    crowds: &[300],
    passed: 600,
    pulls: 1,
    replicas: 600,
    objects: Objects {
        counts: &[1000],
        rates: &[(100, Duration::from_secs(5))],
    },
    window: Duration::from_secs(5),
    pods: 100,
    beside: Reach {
        whole: false,
        turn: Duration::from_secs(1),
    },
    creations: 500,
    starts: 50,
};
