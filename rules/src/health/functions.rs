//! The extension `sets` of cel-go, which Flux's environment has and the crate has not.

#![expect(
    clippy::needless_pass_by_value,
    reason = "the crate's type of a function"
)]

use cel::common::types::{CelBool, CelList, LIST_TYPE};
use cel::common::value::CowVal;
use cel::{DeclarationError, Env, ExecutionError};

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
