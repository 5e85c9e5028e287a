//! Writes the graph as text for a terminal: a table of the objects in the order in which they start, and where the time went.

use super::Drawing;
use super::critical::Path;
use super::gate_wait::GateWait;
use super::model::{Model, Node};
use crate::output::{WIDEST_COLUMN, printable, wrapped};
use crate::root_causes::{self, HeldUp};
use crate::style::{Style, Tone};
use rules::judged::Reason;
use rules::kstatus::Status;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A column of the table: its heading, and the function that makes the cell of a node.
type Column = (&'static str, fn(&Node) -> String);

/// The text of a graph. `width` is the number of columns of the terminal, at which lines are wrapped; `None` where they are not.
pub(super) fn text(told: &Drawing, style: Style, width: Option<usize>) -> String {
    let mut out = causes(&told.root_causes, style, width);
    out.push_str(&table(&told.model, style, width));
    for cycle in &told.model.cycles {
        let says = format!(
            "These wait for each other and never start: {}; {}.",
            printable(&cycle.path),
            cycle.way_out
        );
        let _ = writeln!(out, "\n{}", wrapped("", "  ", &says, width).join("\n"));
    }
    if let Some(gates) = &told.gates {
        out.push_str(&waits(gates, width));
    }
    if let Some(path) = &told.critical_path {
        out.push_str(&critical(path, width));
    }
    out
}

/// The paragraph above the table about root causes; empty where fewer than two pods wait in all.
fn causes(causes: &[HeldUp], style: Style, width: Option<usize>) -> String {
    let (shown, more) = root_causes::shown(causes);
    let lines = shown.iter().flat_map(|it| {
        let says = format!("{}; {}", printable(&it.cause.to_string()), it.count());
        wrapped("  ", "    ", &says, width)
    });
    let lines = lines.chain(more.map(|it| format!("  {it}")));
    let lines: String = lines.map(|it| it + "\n").collect();
    if lines.is_empty() {
        return lines;
    }
    format!("{}\n{lines}\n", style.heading(root_causes::TITLE))
}

fn table(model: &Model, style: Style, width: Option<usize>) -> String {
    let columns = columns(model);
    let head = columns.iter().map(|(head, _)| (*head).to_owned()).collect();
    let body = model.nodes.iter();
    let rows: Vec<Vec<String>> = std::iter::once(head)
        .chain(body.map(|node| columns.iter().map(|(_, cell)| cell(node)).collect()))
        .collect();
    let status = columns.iter().position(|(head, _)| *head == STATUS);
    let paint = |row: usize, column: usize, cell: &str| match row.checked_sub(1) {
        Some(node) if Some(column) == status => style.painted(tone(&model.nodes[node]), cell),
        _ => cell.to_owned(),
    };
    painted(&rows, width, paint)
}

/// The tone of a node's status: good for a ready object, bad for a failed one and for a missing one without a status, waiting for any other.
fn tone(node: &Node) -> Tone {
    match &node.health {
        Some(health) if health.ready => Tone::Good,
        Some(health) if health.status == Status::Failed.word() => Tone::Bad,
        None if is_held_up(node) || node.missing => Tone::Bad,
        Some(_) | None => Tone::Waiting,
    }
}

/// The heading of the column of statuses.
const STATUS: &str = "STATUS";

fn columns(model: &Model) -> Vec<Column> {
    let scopes = model.nodes.iter().filter_map(|it| it.scope.as_ref());
    let scopes: BTreeSet<_> = scopes.collect();
    let any = |says: fn(&Node) -> bool| model.nodes.iter().any(says);
    let (weighs, judged) = (
        any(|it| it.wave.is_some_and(|wave| wave != 0)),
        any(|it| it.health.is_some()),
    );
    let mut columns: Vec<Column> = vec![("STEP", step), ("OBJECT", |it| it.id.clone())];
    if scopes.len() > 1 {
        columns.push(("RELEASE", |it| it.scope.clone().unwrap_or_default()));
    }
    if weighs {
        columns.push(("WAVE", |it| {
            it.wave.map(|wave| wave.to_string()).unwrap_or_default()
        }));
    }
    if judged {
        columns.push((STATUS, |it| health(it).0));
        columns.push(("REASON", |it| health(it).1));
    }
    columns.push(("WAITS FOR", waits_for));
    if any(is_held_up) {
        columns.push(("WHY", why));
    }
    columns
}

fn step(node: &Node) -> String {
    match (node.cycle, node.step) {
        (true, _) => "cycle".to_owned(),
        (false, Some(step)) => step.to_string(),
        (false, None) => "never".to_owned(),
    }
}

fn health(node: &Node) -> (String, String) {
    let told = node.health.as_ref();
    let told = told.map(|it| (it.status.clone(), it.reason.clone()));
    let missing = || ("NotFound".to_owned(), "NotFound".to_owned());
    told.unwrap_or_else(|| {
        if node.missing {
            missing()
        } else {
            Default::default()
        }
    })
}

/// Whether the node's object is known not to be ready; false for a missing object that holds no dependent back.
fn is_held_up(node: &Node) -> bool {
    let spare = node.missing && node.holds_up == Some(false);
    !spare && node.health.as_ref().is_some_and(|it| !it.ready)
}

/// The message that tells why a node's object is not ready, or that it is in a cycle; empty where neither is so.
fn why(node: &Node) -> String {
    if node.cycle {
        // The way round stands below the table.
        return Reason::Cycle.label().to_owned();
    }
    let held_up = node.health.as_ref().filter(|_| is_held_up(node));
    held_up.map(|it| it.message.clone()).unwrap_or_default()
}

fn waits_for(node: &Node) -> String {
    if node.missing {
        return match node.holds_up {
            Some(false) => "(it is not there, and not needed)".to_owned(),
            Some(true) | None => "(it is not there)".to_owned(),
        };
    }
    node.waits_for.join(", ")
}

/// The lines of a table: its rows with their cells aligned in columns, and wrapped at `width` columns where the terminal has so many.
fn aligned(rows: &[Vec<String>], width: Option<usize>) -> String {
    painted(rows, width, |_, _, cell| cell.to_owned())
}

/// The fewest columns that the last cell of a row keeps for itself. A row that leaves it less is wrapped as a whole.
const LAST_CELL: usize = 30;

/// The begin of the further lines of a row that is wrapped as a whole: below the second cell of the table.
const FURTHER: &str = "      ";

/// The rows of [`aligned`], each cell as `paint` makes it, by its row and column: colours take no room. A row that is longer than the
/// terminal is wrapped: its last cell below itself where there is room for it.
fn painted(
    rows: &[Vec<String>],
    terminal: Option<usize>,
    paint: impl Fn(usize, usize, &str) -> String,
) -> String {
    let count = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or_default().min(WIDEST_COLUMN)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let before: usize = widths.iter().rev().skip(1).map(|it| it + 2).sum();
    let has_room = terminal.is_some_and(|it| it >= before + LAST_CELL);
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        let (mut line, mut last) = (String::new(), String::new());
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let cell = printable(cell);
            let painted = paint(at, column, &cell);
            if column + 1 == count {
                last = painted;
                break;
            }
            let gap = width.saturating_sub(cell.chars().count()) + 2;
            line.push_str(&painted);
            line.extend(std::iter::repeat_n(' ', gap));
        }
        let lines = if has_room {
            wrapped(&line, &" ".repeat(before), &last, terminal)
        } else {
            wrapped("", FURTHER, &(line + &last), terminal)
        };
        for line in lines {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}

fn waits(gates: &[GateWait], width: Option<usize>) -> String {
    if gates.is_empty() {
        return "\nNo pod has a gate.\n".to_owned();
    }
    let mut rows = vec![vec!["WAITED".to_owned(), "POD".to_owned(), "OF".to_owned()]];
    for gate in gates {
        let of = match gate.until {
            Some(_) => gate.of.clone(),
            None if gate.held => format!("{}, and is held", gate.of),
            None if gate.stranded => format!("{}, and is stranded", gate.of),
            None => format!("{}, and still waits", gate.of),
        };
        rows.push(vec![format!("{} s", gate.seconds), gate.pod.clone(), of]);
    }
    format!("\n{}", aligned(&rows, width))
}

fn critical(path: &Path, width: Option<usize>) -> String {
    let last = printable(path.steps.last().map_or("", |step| &step.object));
    let so_far = if path.unfinished {
        "; not everything is ready yet"
    } else {
        ""
    };
    let mut out = format!(
        "\n{} s until {last} was ready, the last one{so_far}:\n",
        path.seconds
    );
    let rows: Vec<Vec<String>> = path
        .steps
        .iter()
        .map(|step| {
            vec![
                format!("  {:>5} s", step.seconds),
                step.object.clone(),
                format!("ready at {}", step.until),
            ]
        })
        .collect();
    out.push_str(&aligned(&rows, width));
    out
}
