//! The picture of a run: for each way a waterfall with a bar for each workload, all on one axis of time.

use super::application::APPLICATION;
use super::course::Course;
use super::report::Run;
use std::fmt::Write;

/// The height of a bar with the gap below it, in the units of the picture.
const BAR: f64 = 5.0;
const HEAD: f64 = 34.0;
/// The width of the whole picture.
const WIDTH: f64 = 880.0;
const LEFT: f64 = 16.0;
const RIGHT: f64 = 850.0;
const FOOT: f64 = 28.0;

const STYLE: &str = "
.paper{fill:#fff}.grid{stroke:#d9dee7;stroke-width:1}text{font:13px system-ui,sans-serif;fill:#1d2330}.small{font-size:11px;fill:#5b6577}
.name{font-weight:600}.wait{fill:#d9dee7}.start{fill:#3b7ddd}.ready{fill:#3aa76d}.fail{fill:#d64545}
@media(prefers-color-scheme:dark){.paper{fill:#12161f}.grid{stroke:#2c3444}text{fill:#e7ebf3}.small{fill:#9aa5b8}.wait{fill:#2c3444}}
";

/// The longest axis, as a multiple of the shortest run: on a longer one the bars of that run could not be read.
const LONGEST: f64 = 3.0;

/// Draws these runs one below another, as an SVG text. The axis of time ends with the longest run, but at three times the shortest one at the latest;
/// bars are cut there.
pub(super) fn draw(runs: &[&Run]) -> String {
    let times = runs.iter().map(|run| run.courses.whole());
    let shortest = times.clone().fold(f64::INFINITY, f64::min);
    let end = times.fold(1.0, f64::max).min(LONGEST * shortest);
    let x = |seconds: f64| LEFT + seconds.clamp(0.0, end) / end * (RIGHT - LEFT);
    let panel = HEAD + BAR * row(APPLICATION.len());
    let height = HEAD + panel * row(runs.len()) + FOOT;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>Until {} workloads are ready, by {} ways</title>\n<style>{STYLE}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n",
        APPLICATION.len(),
        runs.len()
    );
    legend(&mut svg);
    grid(&mut svg, end, height - FOOT, &x);
    for (place, run) in runs.iter().enumerate() {
        let top = HEAD + panel * row(place);
        let whole = run.courses.whole();
        let restarts = match run.courses.restarts() {
            0 => String::new(),
            1 => ", 1 restart".to_owned(),
            count => format!(", {count} restarts"),
        };
        let words = run.way.words().replace('`', "");
        let _ = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{:.1}\"><tspan class=\"name\">{words}</tspan>: all ready after {whole:.1} s{restarts}</text>",
            top + HEAD - 10.0
        );
        for (place, course) in run.courses.0.iter().enumerate() {
            bar(&mut svg, course, top + HEAD + BAR * row(place), end, &x);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn bar(svg: &mut String, course: &Course, y: f64, end: f64, x: &impl Fn(f64) -> f64) {
    let name = course.workload.name;
    let _ = write!(
        svg,
        "<g><title>{name}: starts at {:.1} s, ready at {:.1} s</title>",
        course.started, course.ready
    );
    let spans = [
        ("wait", 0.0, course.started),
        ("start", course.started, course.ready),
        ("ready", course.ready, end),
    ];
    for (class, from, to) in spans {
        part(svg, class, x(from), x(to) - x(from), y);
    }
    for failure in course.failures.iter().filter(|it| **it < end) {
        part(svg, "fail", x(*failure), 4.0, y);
    }
    svg.push_str("</g>\n");
}

fn part(svg: &mut String, class: &str, x: f64, width: f64, y: f64) {
    let height = BAR - 1.0;
    let _ = write!(
        svg,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\"/>"
    );
}

fn legend(svg: &mut String) {
    let parts = [
        ("wait", "not started"),
        ("fail", "a container failed"),
        ("start", "starts up"),
        ("ready", "ready"),
    ];
    let mut x = LEFT;
    for (class, words) in parts {
        part(svg, class, x, 14.0, 16.0);
        let _ = writeln!(
            svg,
            "<text class=\"small\" x=\"{}\" y=\"22\">{words}</text>",
            x + 20.0
        );
        x += 130.0;
    }
}

/// Draws the lines of the axis of time, with the seconds below: every 5, 10, 20, 30, 60, 120 or 300 seconds, so that there are not more than about
/// twelve.
fn grid(svg: &mut String, end: f64, bottom: f64, x: &impl Fn(f64) -> f64) {
    let step = [5, 10, 20, 30, 60, 120];
    let step = step.into_iter().find(|step| end / f64::from(*step) <= 12.0);
    let step = step.unwrap_or(300);
    let marks = (0..).map(|mark| mark * step);
    for seconds in marks.take_while(|seconds| f64::from(*seconds) <= end) {
        let x = x(f64::from(seconds));
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{x:.1} {HEAD}V{bottom:.1}\"/><text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\">{seconds} s</text>",
            bottom + 16.0
        );
    }
}

/// Returns a number of rows as a floating-point factor.
fn row(place: usize) -> f64 {
    u32::try_from(place).map_or(0.0, f64::from)
}

#[cfg(test)]
mod tests {
    use super::super::course::at_once;
    use super::super::meter::Cost;
    use super::super::pace::Pace;
    use super::super::report::Phase;
    use super::super::way::Way;
    use super::*;

    #[test]
    fn a_way_has_a_bar_for_each_workload() {
        let mut courses = at_once();
        (courses.0[3].started, courses.0[3].ready) = (4.0, 10.0);
        (courses.0[3].failures, courses.0[3].restarts) = (vec![1.0, 2.0], 2);
        let cost = Cost {
            requests: 0.0,
            accounts: 0.0,
            processor: 0.0,
        };
        let run = Run {
            way: Way::Nothing,
            phase: Phase::Cold,
            courses,
            cost,
            pace: Pace::default(),
        };
        let mut slow = run.clone();
        slow.courses.0[4].ready = 100.0;
        slow.courses.0[4].failures = vec![29.0, 31.0];
        let svg = draw(&[&run, &slow]);
        assert_eq!(svg.matches("<g>").count(), 60);
        // The legend has one of each, and one end is beyond the axis.
        assert_eq!(svg.matches("class=\"fail\"").count(), 1 + 2 * 2 + 1);
        assert!(
            svg.contains("</tspan>: all ready after 10.0 s, 2 restarts</text>"),
            "{svg}"
        );
        assert!(
            svg.contains("<title>kafka: starts at 4.0 s, ready at 10.0 s</title>"),
            "{svg}"
        );
        assert!(svg.contains(">30 s</text>") && !svg.contains(">35 s</text>"));
    }
}
