//! The course of a release: when each workload was released, started, served and was ready, and what held the last one up.

use super::application::Workload;

/// One workload in one release; times are in seconds since the release was sent.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) workload: &'static Workload,
    /// The time of the last line of its init container, where it has one: nothing holds the workload back any more.
    pub(super) released: Option<f64>,
    /// The start of the program that then served.
    pub(super) started: f64,
    pub(super) serving: f64,
    pub(super) ready: f64,
    /// The ends of programs that failed before, to the second.
    pub(super) failures: Vec<f64>,
    /// The number of starts beyond the first, of all containers of the pod.
    pub(super) restarts: i32,
}

impl Course {
    /// The time that the kubelet took from the end of the init container to the start of the program.
    pub(super) fn kubelet(&self) -> Option<f64> {
        Some(self.started - self.released?)
    }
}

/// The parts of the time until the last workload was ready, in seconds.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Parts {
    /// From the sending of the release to the start of the first program on the path.
    pub(super) first: f64,
    /// Start-up times.
    pub(super) startup: f64,
    /// From a program that serves to the pod's Ready: the readiness probe.
    pub(super) probe: f64,
    /// From the dependency's Ready to the release of the dependent.
    pub(super) release: f64,
    /// From the release to the start of the program.
    pub(super) kubelet: f64,
}

/// The courses of all workloads in one release.
#[derive(Debug, Clone)]
pub(super) struct Courses(pub(super) Vec<Course>);

impl Courses {
    /// The time until the last workload is ready.
    pub(super) fn whole(&self) -> f64 {
        self.0.iter().map(|it| it.ready).fold(0.0, f64::max)
    }

    /// The time until the last workload of a tier is ready.
    pub(super) fn tier(&self, tier: usize) -> f64 {
        let of_tier = self.0.iter().filter(|it| it.workload.tier() == tier);
        of_tier.map(|it| it.ready).fold(0.0, f64::max)
    }

    /// The number of restarts.
    pub(super) fn restarts(&self) -> i32 {
        self.0.iter().map(|it| it.restarts).sum()
    }

    /// The number of workloads of which a container failed.
    pub(super) fn failed(&self) -> usize {
        let failed = |it: &&Course| it.restarts > 0 || !it.failures.is_empty();
        self.0.iter().filter(failed).count()
    }

    /// The number of workloads whose program, in this release, began to serve users before a workload of this release that it needs was
    /// ready.
    pub(super) fn early(&self) -> usize {
        let early = |it: &&Course| self.before(it).is_some_and(|last| it.started < last.ready);
        self.0.iter().filter(early).count()
    }

    /// The last of what a workload needs to become ready.
    fn before(&self, course: &Course) -> Option<&Course> {
        let needs = course.workload.needs;
        let needed = self.0.iter().filter(|it| needs.contains(&it.workload.name));
        needed.max_by(|a, b| a.ready.total_cmp(&b.ready))
    }

    /// The parts of the path to the workload that was ready last: from each workload back to what it needed last, for as long as it
    /// started after that.
    pub(super) fn parts(&self) -> Parts {
        let mut parts = Parts::default();
        let mut course = self.0.iter().max_by(|a, b| a.ready.total_cmp(&b.ready));
        while let Some(it) = course {
            parts.startup += it.serving - it.started;
            parts.probe += it.ready - it.serving;
            let before = self.before(it).filter(|before| before.ready <= it.started);
            if let Some(before) = before {
                // A program that needs no init container to hold it back is released and started in one.
                let released = it.released.unwrap_or(it.started).max(before.ready);
                parts.release += released - before.ready;
                parts.kubelet += it.started - released;
            } else {
                parts.first = it.started;
            }
            course = before;
        }
        parts
    }
}

/// The least time in which any way can be through: the start-up times on the longest path, and between two workloads of it the time that
/// the kubelet takes from an init container to the program behind it.
pub(super) fn limit(startup: f64, path: usize, kubelet: f64) -> f64 {
    let between = u32::try_from(path.saturating_sub(1)).map_or(0.0, f64::from);
    startup + between * kubelet
}

/// The number of all workloads, as courses of which nothing is known.
#[cfg(test)]
pub(super) fn at_once() -> Courses {
    let courses = super::application::APPLICATION
        .iter()
        .map(|workload| Course {
            workload,
            released: None,
            started: 0.0,
            serving: 0.0,
            ready: 0.0,
            failures: vec![],
            restarts: 0,
        });
    Courses(courses.collect())
}

#[cfg(test)]
mod tests {
    use super::super::application::APPLICATION;
    use super::*;

    /// Courses in which each workload is released a tenth of a second after what it needs is ready, its program starts half a second later,
    /// and the probe takes a fifth.
    fn in_order() -> Courses {
        let mut courses = at_once();
        for place in 0..APPLICATION.len() {
            let before = courses.before(&courses.0[place]).map(|it| it.ready);
            let course = &mut courses.0[place];
            course.released = before.map(|ready| ready + 0.1);
            course.started = course.released.map_or(1.0, |released| released + 0.5);
            course.serving = course.started + f64::from(course.workload.startup);
            course.ready = course.serving + 0.2;
        }
        courses
    }

    #[test]
    fn the_parts_of_the_path_are_the_whole() {
        let courses = in_order();
        let Parts {
            first,
            startup,
            probe,
            release,
            kubelet,
        } = courses.parts();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(first, 1.0);
        near(startup, 15.0);
        near(probe, 6.0 * 0.2);
        near(release, 5.0 * 0.1);
        near(kubelet, 5.0 * 0.5);
        near(first + startup + probe + release + kubelet, courses.whole());
        near(courses.tier(6), courses.whole());
        near(courses.tier(1), 7.2);
        assert_eq!((courses.early(), courses.failed()), (0, 0));
        near(limit(15.0, 6, 0.5), 17.5);
    }

    #[test]
    fn a_program_that_did_not_wait_is_the_begin_of_its_path() {
        let mut courses = in_order();
        let frontend = courses
            .0
            .iter_mut()
            .find(|it| it.workload.name == "frontend");
        let frontend = frontend.unwrap();
        (frontend.released, frontend.started, frontend.serving) = (None, 0.5, 3.5);
        assert_eq!(courses.early(), 1);
        assert!((courses.parts().first - 0.5).abs() < 1e-9);
    }
}
