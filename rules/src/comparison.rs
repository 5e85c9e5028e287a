//! The six operators of a comparison, and the order of two JSON values. Numbers are compared exactly.

use serde_json::{Number, Value};
use std::cmp::Ordering;
use strum::{Display, EnumString, IntoStaticStr};

/// An operator by which two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr)]
pub enum Operator {
    /// Both values are equal.
    #[strum(serialize = "==")]
    Equal,
    /// The values differ.
    #[strum(serialize = "!=")]
    NotEqual,
    /// The first value is less or equal.
    #[strum(serialize = "<=")]
    LessOrEqual,
    /// The first value is less.
    #[strum(serialize = "<")]
    Less,
    /// The first value is greater or equal.
    #[strum(serialize = ">=")]
    GreaterOrEqual,
    /// The first value is greater.
    #[strum(serialize = ">")]
    Greater,
}

impl Operator {
    /// The operator as it is spelled in an expression: `==`, `<`.
    pub fn sign(self) -> &'static str {
        self.into()
    }

    /// Whether the operator compares by order: any operator but `==` and `!=`.
    pub fn orders(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }

    /// Whether the operator holds for two values with this order between them. For values without an order (`None`, as of `NaN`) only `!=` holds.
    pub(crate) fn holds(self, ordering: Option<Ordering>) -> bool {
        match self {
            Self::Equal => ordering == Some(Ordering::Equal),
            Self::NotEqual => ordering != Some(Ordering::Equal),
            Self::Less => ordering == Some(Ordering::Less),
            Self::LessOrEqual => ordering.is_some_and(Ordering::is_le),
            Self::Greater => ordering == Some(Ordering::Greater),
            Self::GreaterOrEqual => ordering.is_some_and(Ordering::is_ge),
        }
    }
}

/// The order of two numbers, texts or booleans; `None` where the values are of two types, or are no such values.
pub(crate) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => numbers(left, right),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

/// The order of two numbers. Integers of 64 bits are never rounded, not even beside a fraction: as floats,
/// 9007199254740993 and 9007199254740992 would be equal.
fn numbers(left: &Number, right: &Number) -> Option<Ordering> {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        (Some(left), None) => beside(left, right.as_f64()?),
        (None, Some(right)) => beside(right, left.as_f64()?).map(Ordering::reverse),
        (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn integer(number: &Number) -> Option<i128> {
    let signed = number.as_i64().map(i128::from);
    signed.or_else(|| number.as_u64().map(i128::from))
}

/// The order of an integer of 64 bits and a float: by the float's whole part, then by its fraction. `None` for `NaN`.
fn beside(integer: i128, float: f64) -> Option<Ordering> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number; beyond 128 bits it becomes the nearest end, which is still beyond 64 bits"
    )]
    let whole = float.trunc() as i128;
    let rest = float.fract().partial_cmp(&0.0)?;
    Some(integer.cmp(&whole).then(rest.reverse()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(left: &str, right: &str) -> Option<Ordering> {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        order(&read(left), &read(right))
    }

    #[test]
    fn numbers_are_not_rounded() {
        use Ordering::{Equal, Greater, Less};
        for (left, right, expected) in [
            ("1", "1", Equal),
            ("1", "1.0", Equal),
            ("1e0", "1", Equal),
            ("1", "1.5", Less),
            ("-1", "-1.5", Greater),
            ("2", "1.5", Greater),
            ("0", "-0.0", Equal),
            ("-1", "-0.5", Less),
            ("9007199254740993", "9007199254740992", Greater),
            ("9007199254740993", "9007199254740992.0", Greater),
            ("18446744073709551615", "18446744073709551614", Greater),
            ("18446744073709551615", "-1", Greater),
            ("18446744073709551615", "1e300", Less),
            ("-9223372036854775808", "-1e300", Greater),
            ("9223372036854775807", "9223372036854775808", Less),
        ] {
            assert_eq!(compare(left, right), Some(expected), "{left} {right}");
            assert_eq!(
                compare(right, left),
                Some(expected.reverse()),
                "{right} {left}"
            );
        }
    }

    #[test]
    fn an_operator_says_what_it_holds_for() {
        let holds = |operator: Operator| {
            [
                Some(Ordering::Less),
                Some(Ordering::Equal),
                Some(Ordering::Greater),
                None,
            ]
            .map(|ordering| operator.holds(ordering))
        };
        assert_eq!(holds(Operator::Equal), [false, true, false, false]);
        assert_eq!(holds(Operator::NotEqual), [true, false, true, true]);
        assert_eq!(holds(Operator::Less), [true, false, false, false]);
        assert_eq!(holds(Operator::LessOrEqual), [true, true, false, false]);
        assert_eq!(holds(Operator::Greater), [false, false, true, false]);
        assert_eq!(holds(Operator::GreaterOrEqual), [false, true, true, false]);
        assert_eq!("<=".parse(), Ok(Operator::LessOrEqual));
        assert!("=".parse::<Operator>().is_err());
    }
}
