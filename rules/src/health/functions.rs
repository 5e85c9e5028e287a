//! The functions that an expression may call: those of Flux's environment. Its extension `sets` is not in the crate.

#![expect(
    clippy::needless_pass_by_value,
    reason = "the crate's type of a function"
)]

use crate::suggest;
use cel::common::ast::{CallExpr, Expr};
use cel::common::types::{CelBool, CelList, LIST_TYPE};
use cel::common::value::CowVal;
use cel::{DeclarationError, Env, ExecutionError};

/// The number of values that a function takes, including the one before the dot, where cel-go checks the number before
/// evaluation.
#[derive(Debug, Clone, Copy)]
enum Takes {
    One,
    Two,
    Any,
}

use Takes::{Any, One, Two};

/// The functions that cel-go has with the options of Flux, without `first`, `last`, `optional.unwrap` and `unwrapOpt`, which the
/// crate lacks. The crate looks a function up only at the call, so a misspelt name would first be found by a gate.
const FUNCTIONS: [(&str, Takes); 50] = [
    ("base64.decode", One),
    ("base64.encode", One),
    ("bool", Any),
    ("bytes", Any),
    ("charAt", Two),
    ("contains", Two),
    ("double", Any),
    ("duration", Any),
    ("dyn", One),
    ("endsWith", Two),
    ("format", Any),
    ("getDate", Any),
    ("getDayOfMonth", Any),
    ("getDayOfWeek", Any),
    ("getDayOfYear", Any),
    ("getFullYear", Any),
    ("getHours", Any),
    ("getMilliseconds", Any),
    ("getMinutes", Any),
    ("getMonth", Any),
    ("getSeconds", Any),
    ("hasValue", One),
    ("indexOf", Any),
    ("int", Any),
    ("join", Any),
    ("lastIndexOf", Any),
    ("lowerAscii", One),
    ("matches", Two),
    ("optional.none", Any),
    ("optional.of", One),
    ("optional.ofNonZeroValue", One),
    ("or", Any),
    ("orValue", Any),
    ("replace", Any),
    ("reverse", One),
    ("sets.contains", Two),
    ("sets.equivalent", Two),
    ("sets.intersects", Two),
    ("size", One),
    ("split", Any),
    ("startsWith", Two),
    ("string", Any),
    ("strings.quote", One),
    ("substring", Any),
    ("timestamp", Any),
    ("trim", One),
    ("type", One),
    ("uint", Any),
    ("upperAscii", One),
    ("value", One),
];

/// The message about a call of an unknown function, or with a wrong number of values; `None` for a call without a fault.
pub(super) fn fault(call: &CallExpr) -> Option<String> {
    let name = call.func_name.as_str();
    // Operators are calls too, with names that no user can write.
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    if !name.chars().all(|letter| is_word(letter) || letter == '.') {
        return None;
    }
    let known = |name: &str| FUNCTIONS.iter().find(|(known, _)| *known == name);
    let namespace = call.target.as_ref().and_then(|it| match &it.expr {
        Expr::Ident(namespace) => Some(format!("{namespace}.{name}")),
        _ => None,
    });
    let (function, count) = match namespace.as_deref().and_then(known) {
        Some(function) => (Some(function), call.args.len()),
        None => (
            known(name),
            call.args.len() + usize::from(call.target.is_some()),
        ),
    };
    let fits = |takes| match takes {
        One => count == 1,
        Two => count == 2,
        Any => true,
    };
    match function {
        Some((_, takes)) if fits(*takes) => None,
        Some(_) => Some(format!("the function {name} does not take {count} values")),
        None => {
            let words = FUNCTIONS.iter().map(|(known, _)| *known);
            let written = namespace.as_deref().unwrap_or(name);
            let likely = suggest::nearest(written, words.clone());
            let likely = likely.or_else(|| suggest::nearest(name, words));
            let likely = likely.map_or_else(String::new, |it| format!("; did you mean {it}?"));
            Some(format!("there is no function {name}{likely}"))
        }
    }
}

/// Declares `sets.contains`, `sets.equivalent` and `sets.intersects`.
pub(super) fn sets(env: &mut Env) -> Result<(), DeclarationError> {
    let two = || vec![LIST_TYPE, LIST_TYPE];
    env.add_overload("sets.contains", "sets_contains", two(), contains)?;
    env.add_overload("sets.equivalent", "sets_equivalent", two(), equivalent)?;
    env.add_overload("sets.intersects", "sets_intersects", two(), intersects)
}

type Answer<'b, 'v> = Result<CowVal<'b, 'v>, ExecutionError>;

fn contains<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Answer<'b, 'v> {
    compare(&args, |all, some| is_subset(some, all))
}

fn equivalent<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Answer<'b, 'v> {
    compare(&args, |left, right| {
        is_subset(left, right) && is_subset(right, left)
    })
}

fn intersects<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Answer<'b, 'v> {
    compare(&args, |left, right| {
        left.iter().any(|item| right.contains(item))
    })
}

fn is_subset(some: &[cel::Value], all: &[cel::Value]) -> bool {
    some.iter().all(|item| all.contains(item))
}

fn compare<'b, 'v>(
    args: &[CowVal<'b, 'v>],
    holds: fn(&[cel::Value], &[cel::Value]) -> bool,
) -> Answer<'b, 'v> {
    let [left, right] = args else {
        return Err(ExecutionError::invalid_argument_count(2, args.len()));
    };
    let holds = holds(&values(left)?, &values(right)?);
    Ok(CowVal::owned(CelBool::from(holds)))
}

fn values(list: &CowVal<'_, '_>) -> Result<Vec<cel::Value>, ExecutionError> {
    let list = list
        .downcast_ref::<CelList>()
        .ok_or_else(|| ExecutionError::function_error("sets", "an argument is no list"))?;
    list.inner()
        .iter()
        .map(|item| item.as_ref().try_into())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::CelExpression;
    use serde_json::json;

    const UNKNOWN: &str = "no such attribute";

    /// The crate has every function of [`FUNCTIONS`]: it reports one that it lacks only when the function is called.
    #[test]
    fn the_crate_has_every_function() {
        for (name, takes) in FUNCTIONS {
            let count = match takes {
                One => 1,
                Two | Any => 2,
            };
            let arguments = vec!["status"; count].join(", ");
            let member = format!("status.{name}({})", vec!["status"; count - 1].join(", "));
            let object = json!({"status": "a"});
            let missing = [format!("{name}({arguments})"), member].map(|text| {
                // One of the two ways to call the function, `f(a)` or `a.f()`, may not even compile.
                let called = CelExpression::compile(&text).map(|it| it.holds(&object));
                called.is_err()
                    || called.is_ok_and(|told| told.is_err_and(|why| why.contains(UNKNOWN)))
            });
            assert!(missing.contains(&false), "{name}");
        }
    }

    #[test]
    fn a_slip_in_a_name_is_found_when_the_text_is_read() {
        let broken = |text: &str| {
            CelExpression::compile(text)
                .map_err(|broken| broken.to_string())
                .err()
        };
        for text in [
            "status.?x.optMap(v, v + 1).orValue(0) > 1",
            "[1].exists(x, x in [1, 2]) && !has(status.x) && -1 < 2 && ([1][0] == 1 ? true : false)",
            "base64.encode(b'a') == 'YQ==' && sets.contains([1], [1]) && strings.quote('a') != ''",
            "optional.none().hasValue() || status.names.join(',').lowerAscii().contains('a')",
        ] {
            assert_eq!(broken(text), None, "{text}");
        }
        for (text, told) in [
            (
                "status.x.startWith('a')",
                "there is no function startWith; did you mean startsWith?",
            ),
            ("length(status.x) > 1", "there is no function length"),
            (
                "base64.encod('a') == ''",
                "there is no function encod; did you mean base64.encode?",
            ),
            (
                "[1].all(x, siz(x) > 1)",
                "there is no function siz; did you mean size?",
            ),
            (
                "'a'.contains('a', 'b')",
                "the function contains does not take 3 values",
            ),
        ] {
            let found = broken(text).unwrap_or_default();
            assert!(found.ends_with(told), "{text}: {found}");
        }
    }
}
