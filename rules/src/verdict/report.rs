//! Turns the findings about the edges into the answer that a gate gets.

use super::judge::{JudgedEdge, Turn};
use crate::annotation::MAX_ENTRIES;
use crate::text::one_line;
use jiff::{RoundMode, TimestampRound, Unit};
use wire::Answer;

/// The longest message in the report of one edge, in bytes; a longer one is cut. A message may tell of several objects.
pub(super) const LONGEST_REPORT: usize = 2048;
/// The longest report of an edge without its message, in bytes: its names come from lists, which are short.
const BESIDE_A_REPORT: usize = 1024;
// The answer to full lists under both keys is short enough for a gate, though JSON may write a byte as two.
const _: () =
    assert!(2 * MAX_ENTRIES * (2 * LONGEST_REPORT + BESIDE_A_REPORT) < wire::LONGEST_ANSWER);

/// The answer to a gate: `open` if all edges are satisfied or there is none, else `wait`; with a report for each edge, and without note, digest
/// and probes.
pub fn answer(edges: &[JudgedEdge]) -> Answer {
    let verdict = if edges.iter().all(|edge| edge.judged.satisfied) {
        wire::Decision::Open
    } else {
        wire::Decision::Wait
    };
    Answer {
        verdict,
        digest: String::new(),
        dependencies: edges.iter().map(report).collect(),
        note: None,
        probes: Vec::new(),
        for_good: false,
    }
}

fn report(edge: &JudgedEdge) -> wire::Report {
    let message = edge.judged.told(edge.foreign);
    let message = message.map(|text| one_line(text.to_owned(), LONGEST_REPORT));
    wire::Report {
        dependency: edge.edge.to_string(),
        name: edge.edge.name(),
        satisfied: edge.judged.satisfied,
        status: edge.judged.status.word().to_owned(),
        reason: edge.judged.reason.label().to_owned(),
        message,
        turns: edge.turns.iter().map(turn).collect(),
    }
}

/// A turn (a change that time alone will bring) in whole seconds, rounded up so that the change is never told too early.
fn turn(Turn { what, at, takes }: &Turn) -> wire::Turn {
    let whole = TimestampRound::new()
        .smallest(Unit::Second)
        .mode(RoundMode::Ceil);
    wire::Turn {
        what: (*what).to_owned(),
        at: at.round(whole).unwrap_or(*at).to_string(),
        takes: takes.as_secs(),
    }
}
