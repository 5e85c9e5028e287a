//! The tables of a run, in Markdown.

use super::application::{depth, longest, startup};
use super::course::{Course, Courses, limit};
use super::meter::Cost;
use super::pace::{Pace, WORK};
use super::way::Way;
use std::fmt::Write;

/// A release of the application: the first in its namespace, or one in which every pod template changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Cold,
    Upgrade,
}

impl Phase {
    pub(super) const ALL: [Self; 2] = [Self::Cold, Self::Upgrade];

    /// The number of the release in its namespace: 1 or 2.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Cold => 1,
            Self::Upgrade => 2,
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Cold => "Cold: a new namespace",
            Self::Upgrade => "Upgrade: every pod template changes",
        }
    }
}

/// One release by one way.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) way: Way,
    pub(super) phase: Phase,
    pub(super) courses: Courses,
    pub(super) cost: Cost,
    pub(super) pace: Pace,
}

/// The tables of all runs of a phase, in Markdown, below the least time that any way could take. A way that is skipped has a row in the first table,
/// with the reason.
pub(super) fn tables(runs: &[Run], skipped: &[(Way, &str)], phase: Phase) -> String {
    let of_phase: Vec<_> = runs.iter().filter(|run| run.phase == phase).collect();
    let path = longest();
    let kubelet = of_phase.iter().flat_map(|run| &run.courses.0);
    let kubelet = median(kubelet.filter_map(Course::kubelet).collect());
    let limit = limit(startup(&path).as_secs_f64(), path.len(), kubelet);
    let mut text = format!(
        "### {}\n\nThe limit is {limit:.1} s: {:.0} s of start-up times on the longest path, and {} times {kubelet:.2} s, the kubelet's median \
         from an init container's last line to the program's first.\n\n",
        phase.heading(),
        startup(&path).as_secs_f64(),
        path.len() - 1,
    );
    let seconds = |value: f64| format!("{value:.1} s");
    let count = |value: f64| format!("{value:.0}");
    table(
        &mut text,
        &of_phase,
        &[
            ("all ready", &|run| run.courses.whole(), &seconds),
            ("to the limit", &|run| run.courses.whole() / limit, &|it| {
                format!("{it:.2}")
            }),
            ("restarts", &|run| f64::from(run.courses.restarts()), &count),
            (
                "workloads that failed",
                &|run| number(run.courses.failed()),
                &count,
            ),
            (
                "started too early",
                &|run| number(run.courses.early()),
                &count,
            ),
            ("API requests", &|run| run.cost.requests, &count),
            ("of service accounts", &|run| run.cost.accounts, &count),
            ("processor", &|run| run.cost.processor, &seconds),
        ],
    );
    for (way, reason) in skipped {
        let _ = writeln!(text, "| {} | {reason} |", way.words());
    }
    text.push_str("\nThe path to the last workload:\n\n");
    table(
        &mut text,
        &of_phase,
        &[
            (
                "first program starts",
                &|run| run.courses.parts().first,
                &seconds,
            ),
            (
                "start-up times",
                &|run| run.courses.parts().startup,
                &seconds,
            ),
            (
                "readiness probes",
                &|run| run.courses.parts().probe,
                &seconds,
            ),
            (
                "ready to released",
                &|run| run.courses.parts().release,
                &seconds,
            ),
            (
                "released to started",
                &|run| run.courses.parts().kubelet,
                &seconds,
            ),
        ],
    );
    text.push_str("\nA tier is ready:\n\n");
    let tiers =
        (1..=depth()).map(|tier| (tier.to_string(), move |run: &Run| run.courses.tier(tier)));
    each(&mut text, &of_phase, tiers, &seconds);
    text.push_str("\nThe kubelet by its own metrics, the mean of each:\n\n");
    let works = WORK.iter().enumerate();
    let means = works
        .map(|(work, (words, ..))| ((*words).to_owned(), move |run: &Run| run.pace.mean(work)));
    each(&mut text, &of_phase, means, &|value| {
        format!("{value:.2} s")
    });
    text.push('\n');
    text
}

/// Adds a Markdown table with a row for each way that has runs. Each column has a heading and a figure of its own; `words` formats the figures of all
/// columns.
fn each<F: Fn(&Run) -> f64>(
    text: &mut String,
    runs: &[&Run],
    columns: impl Iterator<Item = (String, F)>,
    words: &dyn Fn(f64) -> String,
) {
    let columns: Vec<_> = columns.collect();
    let columns: Vec<Column> = columns
        .iter()
        .map(|(heading, of)| (heading.as_str(), of as &dyn Fn(&Run) -> f64, words))
        .collect();
    table(text, runs, &columns);
}

/// A column of a table: its heading, the function that computes its figure from a run, and the function that writes that figure.
type Column<'a> = (&'a str, &'a dyn Fn(&Run) -> f64, &'a dyn Fn(f64) -> String);

/// Adds a Markdown table with a row for each way that has runs: each column shows the median of the runs, and the range where they differ.
fn table(text: &mut String, runs: &[&Run], columns: &[Column]) {
    let headings: Vec<_> = columns.iter().map(|(heading, ..)| *heading).collect();
    let _ = writeln!(text, "| way | {} |", headings.join(" | "));
    let _ = writeln!(text, "| --- |{}", " --- |".repeat(columns.len()));
    for (_, way) in Way::ALL {
        let of_way: Vec<_> = runs.iter().filter(|run| run.way == way).collect();
        if of_way.is_empty() {
            continue;
        }
        let cells = columns.iter().map(|(_, figure, words)| {
            let figures: Vec<_> = of_way.iter().map(|run| figure(run)).collect();
            let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
            let most = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (median, least, most) = (words(median(figures)), words(least), words(most));
            if least == most {
                median
            } else {
                format!("{median} ({} to {most})", least.trim_end_matches(" s"))
            }
        });
        let cells: Vec<_> = cells.collect();
        let _ = writeln!(text, "| {} | {} |", way.words(), cells.join(" | "));
    }
}

/// Returns the run of a way and a phase whose time until all is ready is the median; `None` where there is no such run.
pub(super) fn typical(runs: &[Run], way: Way, phase: Phase) -> Option<&Run> {
    let of_way = runs.iter().filter(|it| it.way == way && it.phase == phase);
    let mut of_way: Vec<_> = of_way.collect();
    of_way.sort_by(|a, b| a.courses.whole().total_cmp(&b.courses.whole()));
    of_way.get(of_way.len().saturating_sub(1) / 2).copied()
}

/// The median by nearest rank: a measured figure. 0 where nothing was measured.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len().saturating_sub(1) / 2;
    figures.get(middle).copied().unwrap_or(0.0)
}

fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

#[cfg(test)]
mod tests {
    use super::super::course::at_once;
    use super::*;

    #[test]
    fn a_row_has_the_median_and_the_range_of_its_runs() {
        let run = |whole: f64| {
            let mut courses = at_once();
            courses.0[29].ready = whole;
            Run {
                way: Way::Lists,
                phase: Phase::Cold,
                courses,
                cost: Cost {
                    requests: 100.0 + whole,
                    accounts: 3.0,
                    processor: 1.25,
                },
                pace: Pace::default(),
            }
        };
        let runs = [run(20.0), run(30.0), run(21.0)];
        let text = tables(&runs, &[(Way::Waves, "skipped, why")], Phase::Cold);
        let row = "| sluice, by lists | 21.0 s (20.0 to 30.0 s) | 1.40 (1.33 to 2.00) | 0 | 0 | 0 | 121 (120 to 130) | 3 | 1.2 s |";
        assert!(text.contains(row), "{text}");
        assert!(!text.contains("nothing: crash"), "{text}");
        let row = "| Argo CD sync waves, a tier each | skipped, why |";
        assert_eq!(text.matches(row).count(), 1, "{text}");
        let row = "| sluice, by lists | 0.00 s | 0.00 s | 0.00 s | 0.00 s | 0.00 s |";
        assert!(text.contains(row), "{text}");
        assert!(!tables(&runs, &[], Phase::Upgrade).contains("sluice"));
        let typical = typical(&runs, Way::Lists, Phase::Cold).unwrap();
        assert_eq!(typical.courses.whole().to_string(), "21");
    }
}
