//! In which order things can start.

/// For each of `count` nodes the step at which it can start, from 1; `None` for what waits for a circle, or is in one.
///
/// An edge is `(from, to, must)`: `from` waits for `to`. Where there is a way around an edge it counts as long as it
/// closes no circle.
pub(super) fn steps(count: usize, edges: &[(usize, usize, bool)]) -> Vec<Option<usize>> {
    let mut waits: Vec<Vec<(usize, bool)>> = vec![Vec::new(); count];
    for (from, to, must) in edges {
        waits[*from].push((*to, *must));
    }
    let mut steps = vec![None; count];
    let mut all_count = true;
    loop {
        let mut changed = false;
        for node in 0..count {
            if steps[node].is_none() {
                steps[node] = step(&waits[node], &steps, all_count);
                changed |= steps[node].is_some();
            }
        }
        match (changed, all_count) {
            (true, _) => {}
            (false, true) => all_count = false,
            (false, false) => return steps,
        }
    }
}

/// One behind the last of those that it waits for.
fn step(waits: &[(usize, bool)], steps: &[Option<usize>], all_count: bool) -> Option<usize> {
    let mut last = 0;
    for (to, must) in waits {
        match steps[*to] {
            Some(step) => last = last.max(step),
            None if *must || all_count => return None,
            None => {}
        }
    }
    Some(last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_starts_behind_what_it_waits_for() {
        let edges = [
            (2, 1, true),
            (1, 0, true),
            (3, 0, true),
            (3, 2, false),
            (4, 4, true),
            (5, 4, true),
        ];
        let expected = [Some(1), Some(2), Some(3), Some(4), None, None];
        assert_eq!(steps(6, &edges), expected);
    }

    #[test]
    fn a_circle_with_a_way_around_is_none() {
        assert_eq!(steps(2, &[(0, 1, false), (1, 0, true)]), [Some(1), Some(2)]);
        assert_eq!(steps(2, &[(0, 1, true), (1, 0, true)]), [None, None]);
    }
}
