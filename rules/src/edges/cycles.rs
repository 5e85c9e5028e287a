//! All cycles of a graph that is known as a whole.

/// The cycles that a walk over everything closes; each begins with its smallest member. No recursion: a chain may be
/// as long as the input.
pub fn cycles(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut state = vec![Visit::New; needs.len()];
    let mut found: Vec<Vec<usize>> = Vec::new();
    for start in 0..needs.len() {
        if state[start] != Visit::New {
            continue;
        }
        let mut path = vec![(start, needs[start].iter())];
        state[start] = Visit::OnPath;
        while let Some((at, rest)) = path.last_mut() {
            let at = *at;
            match rest.next().copied() {
                None => {
                    state[at] = Visit::Done;
                    path.pop();
                }
                Some(next) if state[next] == Visit::New => {
                    state[next] = Visit::OnPath;
                    path.push((next, needs[next].iter()));
                }
                Some(next) if state[next] == Visit::OnPath => {
                    let members = path.iter().map(|(at, _)| *at);
                    let cycle = members.skip_while(|at| *at != next).collect();
                    found.push(turned(cycle));
                }
                Some(_) => {}
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    OnPath,
    Done,
}

fn turned(mut cycle: Vec<usize>) -> Vec<usize> {
    let first = cycle.iter().min().copied();
    let at = cycle.iter().position(|it| Some(*it) == first);
    cycle.rotate_left(at.unwrap_or_default());
    cycle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cycle_begins_with_its_smallest_member() {
        let needs = [vec![3], vec![1], vec![], vec![2, 4], vec![0]];
        assert_eq!(cycles(&needs), [vec![0, 3, 4], vec![1]]);
        assert_eq!(cycles(&[vec![1, 2], vec![3], vec![3], vec![]]), [[0; 0]; 0]);
        let long: Vec<Vec<usize>> = (0..100_000).map(|at| vec![(at + 1) % 100_000]).collect();
        assert_eq!(cycles(&long).len(), 1, "no recursion");
    }
}
