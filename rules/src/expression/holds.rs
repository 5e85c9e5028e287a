//! Checks whether an expression holds on an object, and says why not.

use super::Expression;
use super::path::Segment;
use crate::comparison;
use crate::suggest;
use crate::text::Quoted;
use serde_json::{Map, Value};

/// The place at which an expression fails on an object, with the elements of the lists on the way, and the value found there.
pub(super) struct Miss<'v> {
    /// How many steps of the expression's path were left.
    left: usize,
    /// The indices of the list elements on the way, the innermost first.
    elements: Vec<usize>,
    /// How many elements the outermost `any` step of the path had to choose from.
    choices: Option<usize>,
    found: Instead<'v>,
}

/// The thing that was found in place of the value that the expression asks for.
enum Instead<'v> {
    /// No value, or no such name in this map.
    Nothing(Option<&'v Map<String, Value>>),
    /// The path has a name where the object has a list.
    List,
    /// The path has `each` or `any` where the object has no list.
    NotAList(&'v Value),
    Empty,
    Mismatch(&'v Value, &'static str),
    Other(&'v Value),
}

pub(super) fn check<'v>(expression: &Expression, object: &'v Value) -> Result<(), Miss<'v>> {
    follow(&expression.path, object, expression)
}

/// Follows a path of an expression from a value on, and compares the values at its end. The recursion is bounded: it goes one level
/// deeper for each step, and a path has at most 64 steps.
fn follow<'v>(path: &[Segment], value: &'v Value, expression: &Expression) -> Result<(), Miss<'v>> {
    let Some((step, rest)) = path.split_first() else {
        return compare(value, expression).map_err(|found| Miss::new(0, found));
    };
    let miss = |found| Err(Miss::new(rest.len(), found));
    match (step, value) {
        (Segment::Field(name), Value::Object(map)) => match map.get(name) {
            Some(value) => follow(rest, value, expression),
            None => miss(Instead::Nothing(Some(map))),
        },
        (Segment::Field(_), Value::Array(_)) => Err(Miss::new(path.len(), Instead::List)),
        (Segment::Field(_), _) => miss(Instead::Nothing(None)),
        (Segment::Each | Segment::Any, Value::Array(items)) if items.is_empty() => {
            Err(Miss::new(path.len(), Instead::Empty))
        }
        (Segment::Each, Value::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(at, item)| follow(rest, item, expression).map_err(|it| it.within(at))),
        (Segment::Any, Value::Array(items)) => any(items, rest, expression),
        (Segment::Each | Segment::Any, other) => {
            Err(Miss::new(path.len(), Instead::NotAList(other)))
        }
    }
}

/// Follows the path behind an `any` step into each element of a list, until one holds. Where none does, returns the miss of the first element.
fn any<'v>(items: &'v [Value], rest: &[Segment], expression: &Expression) -> Result<(), Miss<'v>> {
    let mut first = None;
    for item in items {
        match follow(rest, item, expression) {
            Ok(()) => return Ok(()),
            Err(miss) => first = first.or(Some(miss)),
        }
    }
    first.map_or(Ok(()), |miss| {
        Err(Miss {
            choices: Some(items.len()),
            ..miss.within(0)
        })
    })
}

/// A name of the same map that the user may have meant; `None` where none is near. Names of more than 63 bytes are not compared: the cost grows with
/// their lengths.
fn likely<'v>(name: &str, map: &'v Map<String, Value>) -> Option<&'v str> {
    const LONGEST: usize = 63;
    let short = map.keys().map(String::as_str);
    let short = short.filter(|key| key.len() <= LONGEST);
    (name.len() <= LONGEST)
        .then(|| suggest::nearest(name, short))
        .flatten()
}

fn compare<'v>(value: &'v Value, expression: &Expression) -> Result<(), Instead<'v>> {
    match (
        comparison::order(value, &expression.literal),
        &expression.literal,
    ) {
        (Some(ordering), _) if expression.operator.holds(Some(ordering)) => Ok(()),
        (Some(_), _) => Err(Instead::Other(value)),
        (None, Value::Number(_)) => Err(Instead::Mismatch(value, "a number")),
        (None, Value::Bool(_)) => Err(Instead::Mismatch(value, "a boolean")),
        (None, _) => Err(Instead::Mismatch(value, "a text")),
    }
}

impl<'v> Miss<'v> {
    fn new(left: usize, found: Instead<'v>) -> Self {
        Self {
            left,
            elements: Vec::new(),
            choices: None,
            found,
        }
    }

    fn within(mut self, element: usize) -> Self {
        self.elements.push(element);
        self
    }

    /// Says in a few words why the expression with this path does not hold: `/status/items/2/phase is "Pending"`.
    pub(super) fn sentence(&self, path: &[Segment]) -> String {
        let place = match self.place(path) {
            place if place.is_empty() => "the object".to_owned(),
            place => place,
        };
        let found = match &self.found {
            Instead::Nothing(map) => match map.and_then(|map| self.likely(path, map)) {
                Some(likely) => format!("missing; did you mean {likely:?}?"),
                None => "missing".to_owned(),
            },
            Instead::List => "a list; write each or any after it".to_owned(),
            Instead::NotAList(value) => format!("{}, not a list", described(value)),
            Instead::Empty => "empty".to_owned(),
            Instead::Mismatch(value, wanted) => format!("{}, not {wanted}", described(value)),
            Instead::Other(value) => described(value),
        };
        match self.choices {
            Some(choices @ 2..) => {
                format!("{place} is {found}, and none of the {choices} elements fits")
            }
            _ => format!("{place} is {found}"),
        }
    }

    /// The key of the object that the user may have meant by the last step that was taken. The search runs only for a sentence: an `any` that
    /// holds for no element fails once for each, and the sentence shows one of these failures.
    fn likely<'m>(&self, path: &[Segment], map: &'m Map<String, Value>) -> Option<&'m str> {
        let taken = path.len().saturating_sub(self.left);
        match path[..taken].last()? {
            Segment::Field(name) => likely(name, map),
            Segment::Each | Segment::Any => None,
        }
    }

    /// The steps that were taken, with the indexes of the elements in place of `each` and `any`.
    fn place(&self, path: &[Segment]) -> String {
        let mut elements = self.elements.iter().rev();
        let taken = path.len().saturating_sub(self.left);
        path.iter()
            .take(taken)
            .map(|step| match step {
                Segment::Field(name) => format!("/{}", name.escape_debug()),
                Segment::Each | Segment::Any => {
                    format!("/{}", elements.next().copied().unwrap_or_default())
                }
            })
            .collect()
    }
}

fn described(value: &Value) -> String {
    match value {
        Value::String(text) => Quoted(text).to_string(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
        scalar => scalar.to_string(),
    }
}
