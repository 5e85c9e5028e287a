//! The texts that objects were read from, to find the line of a finding.

use super::place::Place;
use crate::manifest::{self, Places, Position};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Helm's line above the objects that it has rendered from a template.
const TEMPLATE: &str = "# Source: ";

/// The texts by the names of their files.
#[derive(Debug, Default)]
pub(crate) struct Sources(HashMap<String, Source>);

#[derive(Debug)]
struct Source {
    text: String,
    /// The bytes of the text at which its lines begin.
    lines: Vec<usize>,
    /// Whether the text was rendered from a chart or built from a kustomization, so that its lines are those of no file.
    rendered: bool,
}

/// A spot in an object that a finding is about. [`Finder::find`] looks for its line in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spot<'a> {
    /// A field, by its JSON pointer; the object itself by the empty one.
    Field(&'a str),
    /// A character in the text of a field, such as the wrong character of a list: the field's JSON pointer, then the line and the column in
    /// the text, from 1.
    Within(&'a str, usize, usize),
}

impl Spot<'_> {
    fn pointer(&self) -> &str {
        match self {
            Self::Field(pointer) | Self::Within(pointer, ..) => pointer,
        }
    }
}

/// A file and, as far as it is known, the position in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    pub(crate) file: String,
    pub(crate) position: Option<Position>,
}

impl Sources {
    pub(super) fn keep(&mut self, name: &str, text: &[u8], rendered: bool) {
        // A text that is no UTF-8 has no objects.
        let text = String::from_utf8_lossy(text).into_owned();
        let source = Source {
            lines: manifest::lines(&text),
            text,
            rendered,
        };
        self.0.insert(name.to_owned(), source);
    }

    /// A finder of places in the texts of the input.
    pub(crate) fn finder(&self) -> Finder<'_> {
        Finder {
            sources: self,
            places: HashMap::new(),
        }
    }
}

/// Finds the positions of spots. Each document of a text is read once, when the first of its spots is looked for.
#[derive(Debug)]
pub(crate) struct Finder<'s> {
    sources: &'s Sources,
    places: HashMap<(&'s str, usize), Places<'s>>,
}

impl Finder<'_> {
    /// The file and the position of a spot in an object. For an object that Helm has rendered they are those in the chart's template: of the spot's
    /// line, else of the line of the key above it, else of no line. A rendered object whose template cannot be read has no position either.
    pub(crate) fn find(&mut self, place: &Place, spot: Spot<'_>) -> Location {
        let nowhere = || Location {
            file: place.file.clone(),
            position: None,
        };
        let Some((name, source)) = self.sources.0.get_key_value(&place.file) else {
            return nowhere();
        };
        let origin = &place.origin;
        let places = self.places.entry((name, origin.at));
        let places = places.or_insert_with(|| Places::new(&source.text, &source.lines, origin.at));
        let position = match spot {
            Spot::Field(pointer) => places.key(origin, pointer),
            Spot::Within(pointer, line, column) => {
                let within = places.within(origin, pointer, line, column);
                within.or_else(|| places.key(origin, pointer))
            }
        };
        if source.rendered {
            let of = |position| of_template(Path::new(name), &source.text, origin.at, position);
            let found = of(position).unwrap_or_else(nowhere);
            // In a text of several lines, Helm may have computed the line although the key above it is written in the template.
            let key = || of(places.key(origin, spot.pointer()));
            return match found.position {
                Some(_) => found,
                None => key().unwrap_or(found),
            };
        }
        let file = name.clone();
        Location { file, position }
    }
}

/// Finds the line of a chart's template that Helm has rendered as a given line: the template's only equal line, else, for a computed value, its
/// only line with the same key. For any other line only the file is known; `None` where the template's file is not known or cannot be read.
fn of_template(
    chart: &Path,
    rendered: &str,
    document: usize,
    position: Option<Position>,
) -> Option<Location> {
    let head = &rendered[..document];
    let head = &head[head.rfind(TEMPLATE)? + TEMPLATE.len()..];
    // The first folder has the chart's name.
    let (_, file) = head.lines().next()?.split_once('/')?;
    let path: PathBuf = chart.join(file);
    let text = fs::read_to_string(&path).ok()?;
    Some(Location {
        file: path.display().to_string(),
        position: position.and_then(|it| same_line(&text, rendered, it)),
    })
}

fn same_line(template: &str, rendered: &str, position: Position) -> Option<Position> {
    let line = rendered.lines().nth(position.line - 1)?;
    let only = |is: &dyn Fn(&str) -> bool| {
        let lines = template.lines().enumerate();
        let mut lines = lines.filter(|(_, it)| is(it.trim()));
        let found = lines.next()?;
        lines.next().is_none().then_some(found)
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    if let Some((at, found)) = only(&|it| it == line.trim()) {
        let column = (position.column + indent(found)).checked_sub(indent(line))?;
        let line = at + 1;
        return Some(Position { line, column });
    }
    let (key, _) = line.trim().split_once(": ")?;
    let (at, found) = only(&|it| it.split_once(':').is_some_and(|(it, _)| it == key))?;
    Some(Position {
        line: at + 1,
        column: 1 + indent(found),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_in_the_template_where_it_is_the_only_one() {
        let template = "{{- if .Values.web }}\nmetadata:\n    name: web\n  annotations:\n      a/b: {{ .Values.b }}\n\
                        spec:\n  x: 1\n  x: 1\n";
        let rendered = "---\n# Source: shop/templates/web.yaml\nmetadata:\n  name: web\n  annotations:\n    a/b: c\n\
                        spec:\n  x: 1\n";
        let found = |line, column| {
            let found = same_line(template, rendered, Position { line, column });
            found.map(|it| (it.line, it.column))
        };
        assert_eq!(found(4, 3), Some((3, 5)));
        assert_eq!(found(6, 12), Some((5, 7)), "computed: the key of it");
        assert_eq!(found(8, 3), None, "there twice");
    }
}
