//! The graph for Graphviz. Time runs from left to right, an arrow leads from a dependent to its dependency.

use super::model::{Model, Node};
use std::fmt::Write;

pub(super) fn dot(model: &Model) -> String {
    let mut out =
        "digraph sluice {\n  rankdir=RL;\n  node [shape=box, style=\"rounded,filled\", fillcolor=white];\n"
            .to_owned();
    for node in &model.nodes {
        let label = match &node.health {
            Some(health) => format!("{}\n{}", node.id, health.status),
            None => node.id.clone(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "  {} [label={}{}];",
            quoted(&node.id),
            quoted(&label),
            look(node)
        );
    }
    for edge in model.edges.iter().filter(|edge| edge.is_drawn()) {
        let mut attributes = Vec::new();
        attributes.extend(
            edge.because
                .as_ref()
                .map(|it| format!("label={}", quoted(it))),
        );
        if !edge.must {
            attributes.push("style=dashed".to_owned());
        }
        if edge.cycle {
            attributes.push("color=red".to_owned());
        }
        let attributes = match attributes.join(", ") {
            none if none.is_empty() => none,
            some => format!(" [{some}]"),
        };
        let _ = writeln!(
            out,
            "  {} -> {}{attributes};",
            quoted(&edge.from),
            quoted(&edge.to)
        );
    }
    out.push_str("}\n");
    out
}

fn look(node: &Node) -> &'static str {
    if node.cycle {
        return ", color=red";
    }
    if node.missing {
        return ", style=\"rounded,dashed\"";
    }
    match node.health.as_ref() {
        None => "",
        Some(health) if health.ready => ", fillcolor=palegreen",
        Some(health) if health.status == "Failed" => ", fillcolor=salmon",
        Some(_) => ", fillcolor=lightyellow",
    }
}

/// A text in double quotes for the language DOT, with backslashes, quotes and line ends escaped.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('\n', "\\n"))
}
