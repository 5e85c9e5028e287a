//! The course of a release: when each workload was released, started, served and was ready, and what held the last one up.

use super::application::Workload;

/// One workload in one release; times are in seconds since the release was sent.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) workload: &'static Workload,
    /// The time of the last line of its init container, after which nothing holds the workload back; `None` where it has no init container.
    pub(super) released: Option<f64>,
    /// The time at which the program started that then served.
    pub(super) started: f64,
    pub(super) serving: f64,
    pub(super) ready: f64,
    /// The times at which earlier programs of the workload failed. Each is read as a whole second, before the time of the release is taken away.
    pub(super) failures: Vec<f64>,
    /// The number of starts beyond the first, of all containers of the pod.
    pub(super) restarts: i32,
}

impl Course {
    /// Returns the time from the release of the workload to the start of its program, which the kubelet takes; `None` where the workload has no init
    /// container.
    pub(super) fn kubelet(&self) -> Option<f64> {
        Some(self.started - self.released?)
    }
}

/// The parts of the time until the last workload was ready, in seconds.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Parts {
    /// The time from the sending of the release to the start of the first program on the path.
    pub(super) first: f64,
    /// The start-up times of all programs on the path, from their first line until they serve.
    pub(super) startup: f64,
    /// The total time on the path from a program that serves to its pod's Ready: the readiness probe.
    pub(super) probe: f64,
    /// The total time on the path from a dependency's Ready to the release of its dependent.
    pub(super) release: f64,
    /// The total time on the path from the release of a workload to the start of its program.
    pub(super) kubelet: f64,
}

/// The courses of all workloads in one release.
#[derive(Debug, Clone)]
pub(super) struct Courses(pub(super) Vec<Course>);

impl Courses {
    /// Returns the time from the sending of the release until the last workload is ready, in seconds.
    pub(super) fn whole(&self) -> f64 {
        self.0.iter().map(|it| it.ready).fold(0.0, f64::max)
    }

    /// Returns the time from the sending of the release until the last workload of a tier is ready, in seconds. The first tier has the number 1.
    pub(super) fn tier(&self, tier: usize) -> f64 {
        let of_tier = self.0.iter().filter(|it| it.workload.tier() == tier);
        of_tier.map(|it| it.ready).fold(0.0, f64::max)
    }

    /// Returns the number of restarts of all workloads together.
    pub(super) fn restarts(&self) -> i32 {
        self.0.iter().map(|it| it.restarts).sum()
    }

    /// Returns the number of workloads of which a container failed or was restarted.
    pub(super) fn failed(&self) -> usize {
        let failed = |it: &&Course| it.restarts > 0 || !it.failures.is_empty();
        self.0.iter().filter(failed).count()
    }

    /// Returns the number of workloads whose program, the one that then served, started before a workload of this release that it needs was ready.
    pub(super) fn early(&self) -> usize {
        let early = |it: &&Course| self.before(it).is_some_and(|last| it.started < last.ready);
        self.0.iter().filter(early).count()
    }

    /// Returns the course of the workload that became ready last among those that this workload needs; `None` where it needs none.
    fn before(&self, course: &Course) -> Option<&Course> {
        let needs = course.workload.needs;
        let needed = self.0.iter().filter(|it| needs.contains(&it.workload.name));
        needed.max_by(|a, b| a.ready.total_cmp(&b.ready))
    }

    /// Splits the time of the path to the workload that was ready last into its parts. The path goes back from each workload to the one that became
    /// ready last of those that it needs, and ends at a workload that started before that.
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

/// Returns the least time that any way can take, in seconds: the start-up times on the longest path of `path` workloads, and between each two of them
/// the time that the kubelet takes from an init container to the program behind it.
pub(super) fn limit(startup: f64, path: usize, kubelet: f64) -> f64 {
    let between = u32::try_from(path.saturating_sub(1)).map_or(0.0, f64::from);
    startup + between * kubelet
}

/// Returns a course for each workload of the application, in which all times are zero and nothing failed.
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

    /// Returns courses in which each workload is released a tenth of a second after the last workload that it needs is ready, its program starts half
    /// a second later, and the readiness probe takes a fifth of a second.
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
