//! The cycles of a graph that is known as a whole.

use std::collections::{BTreeSet, HashMap, VecDeque};

/// The most cycles that are reported of one part of a graph, whose nodes all lead to each other. Further ones show once these are broken.
const MOST: usize = 10;

/// Finds cycles of a graph in which object `i` needs the objects `needs[i]`: for each edge that is in no cycle found before, the shortest cycle
/// over it, but at most ten of objects that all lead to each other. Each begins with its smallest member. No recursion: a chain may be as long
/// as the input.
pub fn cycles(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let parts = parts(needs);
    let mut told = vec![0; needs.len()];
    let mut covered = BTreeSet::new();
    let mut found = Vec::new();
    for (from, next) in needs.iter().enumerate() {
        for to in next.iter().copied() {
            let part = parts[from];
            if parts[to] != part || told[part] == MOST || covered.contains(&(from, to)) {
                continue;
            }
            let cycle = way(needs, to, from);
            let next = cycle.iter().copied().cycle().skip(1);
            covered.extend(cycle.iter().copied().zip(next));
            told[part] += 1;
            found.push(turned(cycle));
        }
    }
    found.sort();
    found
}

/// The part of the graph that each node is in, indexed by node: the number of one node of that part, the same for all its nodes. The nodes
/// of one part lead to each other.
fn parts(needs: &[Vec<usize>]) -> Vec<usize> {
    let mut leads: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    for (from, needs) in needs.iter().enumerate() {
        for to in needs {
            leads[*to].push(from);
        }
    }
    // Read backwards, the next node that was left belongs to a part that leads to none of the parts that follow.
    let mut parts = vec![None; needs.len()];
    for start in left(needs).into_iter().rev() {
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            if parts[at].is_none() {
                parts[at] = Some(start);
                open.extend(&leads[at]);
            }
        }
    }
    parts.into_iter().flatten().collect()
}

/// The nodes in the order in which a depth-first walk leaves them: each after all nodes that it leads to, but for those on a cycle with it.
fn left(needs: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; needs.len()];
    let mut left = Vec::new();
    for start in 0..needs.len() {
        let mut path = Vec::new();
        if !std::mem::replace(&mut seen[start], true) {
            path.push((start, needs[start].iter()));
        }
        while let Some((at, rest)) = path.last_mut() {
            match rest.next().copied() {
                None => {
                    left.push(*at);
                    path.pop();
                }
                Some(next) if !std::mem::replace(&mut seen[next], true) => {
                    path.push((next, needs[next].iter()));
                }
                Some(_) => {}
            }
        }
    }
    left
}

/// The shortest path, both ends included, from one node to another that it leads to.
fn way(needs: &[Vec<usize>], from: usize, to: usize) -> Vec<usize> {
    let mut before = HashMap::from([(from, from)]);
    let mut open = VecDeque::from([from]);
    while !before.contains_key(&to)
        && let Some(at) = open.pop_front()
    {
        for next in needs[at].iter().copied() {
            before.entry(next).or_insert_with(|| {
                open.push_back(next);
                at
            });
        }
    }
    let mut way = vec![to];
    let mut at = to;
    while at != from
        && let Some(previous) = before.get(&at)
    {
        at = *previous;
        way.push(at);
    }
    way.reverse();
    way
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

    #[test]
    fn cycles_that_share_members_are_all_told_up_to_ten() {
        // 0 waits for 1 and for 2, and both for 3, which waits for 0.
        let needs = [vec![1, 2], vec![3], vec![3], vec![0]];
        assert_eq!(cycles(&needs), [[0, 1, 3], [0, 2, 3]]);
        assert_eq!(cycles(&[vec![1], vec![0, 2], vec![1]]), [[0, 1], [1, 2]]);
        let all: Vec<Vec<usize>> = (0..100).map(|_| (0..100).collect()).collect();
        assert_eq!(cycles(&all).len(), 10);
    }
}
