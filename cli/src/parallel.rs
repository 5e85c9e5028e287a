//! Work on many things, on every processor there is.

use std::num::NonZero;
use std::thread;

/// The number of items that are worth a thread of their own.
const WORTH: usize = 500;

/// The results of `make` for each thing and its index, in their order.
pub(crate) fn map<T: Sync, U: Send>(things: &[T], make: impl Fn(usize, &T) -> U + Sync) -> Vec<U> {
    shared(things, WORTH, make)
}

/// The results of [`map`] for a few things, each of which is worth a thread of its own.
pub(crate) fn map_few<T: Sync, U: Send>(
    things: &[T],
    make: impl Fn(usize, &T) -> U + Sync,
) -> Vec<U> {
    shared(things, 1, make)
}

/// The results of `make` for each thing and its index, in their order. The things are shared out among the processors, at least `worth` to each
/// thread.
fn shared<T: Sync, U: Send>(
    things: &[T],
    worth: usize,
    make: impl Fn(usize, &T) -> U + Sync,
) -> Vec<U> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let share = things.len().div_ceil(processors).max(worth);
    let make_all = |(part, things): (usize, &[T])| -> Vec<U> {
        let indexed = things.iter().enumerate();
        indexed
            .map(|(index, it)| make(part * share + index, it))
            .collect()
    };
    let mut parts = things.chunks(share).enumerate();
    let Some(first) = parts.next() else {
        return Vec::new();
    };
    thread::scope(|scope| {
        let others: Vec<_> = parts
            .map(|part| scope.spawn(move || make_all(part)))
            .collect();
        let mut all = make_all(first);
        for other in others {
            match other.join() {
                Ok(part) => all.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_made_once_and_in_its_order() {
        for count in [0, 1, WORTH, WORTH + 1, 7 * WORTH + 3] {
            let things: Vec<_> = (0..count).collect();
            let made = map(&things, |index, thing| (index, *thing));
            let wanted: Vec<_> = things.iter().map(|it| (*it, *it)).collect();
            assert_eq!(made, wanted, "{count}");
            let made = map_few(&things, |index, thing| (index, *thing));
            assert_eq!(made, wanted, "{count}");
        }
    }
}
