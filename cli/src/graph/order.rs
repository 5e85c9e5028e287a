//! The order in which objects can start.

/// For each of `count` nodes the step at which it can start, from 1; `None` for a node that waits for a cycle, or is in one.
///
/// An edge is `(from, to, must)`: `from` waits for `to`, and where `must` is false there is a way around it. Such an edge counts too, unless
/// `to` gets no step by the edges that count: then `from` does not wait for it.
pub(super) fn steps(count: usize, edges: &[(usize, usize, bool)]) -> Vec<Option<usize>> {
    let mut waited_for: Vec<Vec<(usize, bool)>> = vec![Vec::new(); count];
    let mut nodes = vec![Waiting::default(); count];
    for (from, to, must) in edges {
        waited_for[*to].push((*from, *must));
        nodes[*from].open += 1;
    }
    let mut steps = vec![None; count];
    for all_count in [true, false] {
        if !all_count {
            give_way(&steps, &mut nodes, edges);
        }
        let free = |at: &usize| steps[*at].is_none() && nodes[*at].open == 0;
        let mut ready: Vec<usize> = (0..count).filter(free).collect();
        while let Some(at) = ready.pop() {
            let step = nodes[at].last + 1;
            steps[at] = Some(step);
            for (from, must) in &waited_for[at] {
                let node = &mut nodes[*from];
                node.last = node.last.max(step);
                // `give_way` has taken off the edges that have a way around them.
                if *must || all_count {
                    node.open -= 1;
                    if node.open == 0 {
                        ready.push(*from);
                    }
                }
            }
        }
    }
    steps
}

#[derive(Debug, Clone, Default)]
struct Waiting {
    /// The number of the node's dependencies that have no step yet.
    open: usize,
    /// The last step among the node's dependencies that have one; 0 where none has.
    last: usize,
}

/// Lets waiting nodes go on without the edges that have a way around them: takes each off the node's count, where its target has no step.
fn give_way(steps: &[Option<usize>], nodes: &mut [Waiting], edges: &[(usize, usize, bool)]) {
    for (from, to, must) in edges {
        if !must && steps[*to].is_none() {
            nodes[*from].open -= 1;
        }
    }
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
    fn a_cycle_with_a_way_around_is_none() {
        assert_eq!(steps(2, &[(0, 1, false), (1, 0, true)]), [Some(1), Some(2)]);
        assert_eq!(steps(2, &[(0, 1, true), (1, 0, true)]), [None, None]);
    }
}
