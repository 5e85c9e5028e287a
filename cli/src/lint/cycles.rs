//! Objects that wait for each other.

use super::finding::{Finding, Level};
use super::graph::Graph;

/// An error for each circle, on the object of it that comes first. A longer circle through members of one that was told
/// is not told again: it is broken with the other, or found on the next run.
pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let needs: Vec<_> = (0..graph.objects.len()).map(|at| graph.needs(at)).collect();
    circles(&needs)
        .into_iter()
        .map(|circle| {
            let place = &graph.objects[circle[0]].place;
            Finding::new(Level::Error, place, told(graph, &circle))
        })
        .collect()
}

fn told(graph: &Graph<'_>, circle: &[usize]) -> String {
    let name = |at: &usize| graph.objects[*at].place.to_string();
    if circle.len() == 1 {
        return "it waits for itself; take the entry out of its list".to_owned();
    }
    let mut path: Vec<_> = circle.iter().map(name).collect();
    path.push(name(&circle[0]));
    let path = path.join(" -> ");
    format!("these wait for each other and never start: {path}; take one entry out")
}

/// The circles that a walk over everything closes; each begins with its smallest member. No recursion: a chain may be
/// as long as the input.
fn circles(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut state = vec![State::New; needs.len()];
    let mut found: Vec<Vec<usize>> = Vec::new();
    for start in 0..needs.len() {
        if state[start] != State::New {
            continue;
        }
        let mut path = vec![(start, needs[start].iter())];
        state[start] = State::OnPath;
        while let Some((at, rest)) = path.last_mut() {
            let at = *at;
            match rest.next().copied() {
                None => {
                    state[at] = State::Done;
                    path.pop();
                }
                Some(next) if state[next] == State::New => {
                    state[next] = State::OnPath;
                    path.push((next, needs[next].iter()));
                }
                Some(next) if state[next] == State::OnPath => {
                    let members = path.iter().map(|(at, _)| *at);
                    let circle = members.skip_while(|at| *at != next).collect();
                    found.push(turned(circle));
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
enum State {
    New,
    OnPath,
    Done,
}

fn turned(mut circle: Vec<usize>) -> Vec<usize> {
    let first = circle.iter().min().copied();
    let at = circle.iter().position(|it| Some(*it) == first);
    circle.rotate_left(at.unwrap_or_default());
    circle
}
