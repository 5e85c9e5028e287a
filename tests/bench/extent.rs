//! The extent of a run: how often each part is measured, and with how many objects.

use crate::Part;
use crate::injectors::Reach;
use crate::kubectl::Waiters;
use crate::objects::Objects;
use std::time::Duration;

/// How often each part is measured, and with how many objects.
pub(crate) struct Extent {
    /// The parts that are left out unless the command line names them.
    pub(crate) without: &'static [Part],
    /// The number of gates that wait at the same time as processes, more than most clusters ever have.
    pub(crate) gates: usize,
    /// Pairs: the number of gates that are released at once, as processes, and the number of rounds.
    pub(crate) releases: [(usize, usize); 3],
    /// The number of gates that wait for one address outside of the cluster.
    pub(crate) addresses: usize,
    /// The extent of the measurement beside the init containers that users write without sluice.
    pub(crate) waiters: Waiters,
    /// Numbers of gates that wait for a pod that fits on no node, fewest first.
    pub(crate) unschedulable: &'static [usize],
    /// Numbers of gates that are tasks of the bench instead of processes, each measured by itself, fewest first.
    pub(crate) crowds: &'static [usize],
    /// The number of pods, not waiting any more, whose memory in the controller is measured.
    pub(crate) passed: usize,
    /// The number of pods whose images are pulled while their gates wait.
    pub(crate) pulls: usize,
    /// The number of gates on two replicas together.
    pub(crate) replicas: usize,
    /// The numbers of objects of a watched kind, and of their changes.
    pub(crate) objects: Objects,
    /// The time over which requests, memory and processor time are measured while gates wait.
    pub(crate) window: Duration,
    /// The number of creations of a pod, each with and without a list, that the API server is sent as a dry run.
    pub(crate) pods: usize,
    /// The reviews that both our controller and the injector beside it get.
    pub(crate) beside: Reach,
    /// The number of creations that are held at once.
    pub(crate) creations: usize,
    /// The number of starts of a gate that need not wait, one after another.
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

/// The extent of a quick run of three minutes. It leaves out the longest parts, such as the gates that are tasks: those that are processes show the
/// same.
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
