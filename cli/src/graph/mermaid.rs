//! The graph for Mermaid. Time runs from left to right, an arrow leads from a dependent to its dependency.

use super::model::{Model, Node};
use std::fmt::Write;

/// The classes of nodes, with their style in Mermaid. Only the classes that nodes have are written.
const CLASSES: [(&str, &str); 5] = [
    ("ready", "fill:#cfc"),
    ("waits", "fill:#ffc"),
    ("failed", "fill:#fcc"),
    ("missing", "stroke-dasharray:4"),
    ("cycle", "stroke:#f00,stroke-width:2px"),
];

pub(super) fn mermaid(model: &Model) -> String {
    let mut out = "flowchart RL\n".to_owned();
    let mut used = Vec::new();
    for (at, node) in model.nodes.iter().enumerate() {
        let class = class(node);
        used.extend(class);
        let class = class.map(|it| format!(":::{it}")).unwrap_or_default();
        let status = node.health.as_ref().map(|it| format!("<br>{}", it.status));
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "  n{at}[\"{}{}\"]{class}",
            escaped(&node.id),
            status.unwrap_or_default()
        );
    }
    let mut red = Vec::new();
    let drawn = model.edges.iter().filter(|edge| edge.is_drawn());
    for (number, edge) in drawn.enumerate() {
        let arrow = if edge.must { "-->" } else { "-.->" };
        let because = edge.because.as_ref();
        let label = because.map(|it| format!("|\"{}\"|", escaped(it)));
        let _ = writeln!(
            out,
            "  n{} {arrow}{} n{}",
            edge.from_node,
            label.unwrap_or_default(),
            edge.to_node
        );
        red.extend(edge.cycle.then(|| number.to_string()));
    }
    if !red.is_empty() {
        let _ = writeln!(out, "  linkStyle {} stroke:#f00", red.join(","));
    }
    for (name, style) in CLASSES {
        if used.contains(&name) {
            let _ = writeln!(out, "  classDef {name} {style}");
        }
    }
    out
}

fn class(node: &Node) -> Option<&'static str> {
    if node.cycle {
        return Some("cycle");
    }
    if node.missing {
        return Some("missing");
    }
    let health = node.health.as_ref()?;
    Some(match health.status.as_str() {
        _ if health.ready => "ready",
        "Failed" => "failed",
        _ => "waits",
    })
}

/// Escapes a text for Mermaid between quotes: a character with a meaning there, such as `<` or `"`, becomes its number (`#34;`), and a
/// control character a space.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for each in text.chars() {
        match each {
            '"' | '#' | '<' | '>' | '&' | '\\' | '`' => {
                let _ = write!(out, "#{};", u32::from(each));
            }
            each if each.is_control() => out.push(' '),
            each => out.push(each),
        }
    }
    out
}
