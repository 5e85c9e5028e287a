//! Finds the cycles of objects that wait for each other, and words them.

use super::graph::Graph;
use super::links::Link;
use rules::dependency::Reference;
use rules::dependent::{Source, Wait};
use rules::edges;

impl Graph<'_> {
    /// The cycles of objects that wait for each other, as indexes of the objects, each with its smallest member first.
    pub(crate) fn cycles(&self) -> Vec<Vec<usize>> {
        let needs: Vec<_> = (0..self.objects.len()).map(|at| self.needs(at)).collect();
        edges::cycles(&needs)
    }

    /// The names along a cycle, each with the reason of the next wait where no list names it.
    pub(crate) fn path(&self, cycle: &[usize]) -> String {
        // The link to an object stands behind the object's name: `Deployment a -> Job b (weight 0) -> Deployment a`.
        let mut told = String::new();
        let mut behind = None;
        for (at, link) in self.steps(cycle) {
            told.push_str(&self.called(at, behind.take()));
            told.push_str(" -> ");
            behind = link.and_then(|link| self.how(at, link));
        }
        told.push_str(&self.called(cycle[0], behind));
        told
    }

    fn called(&self, at: usize, how: Option<String>) -> String {
        let name = &self.objects[at].place;
        match how {
            Some(how) => format!("{name} ({how})"),
            None => name.to_string(),
        }
    }

    /// Each member of a cycle, with its link to the next member that it cannot start without; `None` where it has no such link.
    fn steps(&self, cycle: &[usize]) -> Vec<(usize, Option<Link>)> {
        let next = cycle.iter().cycle().skip(1);
        let step = |(at, next): (&usize, &usize)| {
            let mut links = self.links(*at).into_iter();
            (*at, links.find(|link| link.must && link.to == *next))
        };
        cycle.iter().zip(next).map(step).collect()
    }

    /// The reason of a link that no entry of a list names as an object: `weight 0`, a plan, a node rule, or the part that it is in; `None` for any
    /// other link.
    pub(crate) fn how(&self, from: usize, link: Link) -> Option<String> {
        let Wait { edge, source } = &self.lists[from][link.wait?];
        match (source, edge.entry().map(|it| &it.reference)) {
            (Source::Weight, _) => {
                let weight = self.waves[link.to].unwrap_or_default();
                Some(format!("weight {weight}"))
            }
            (Source::Plan, _) => Some(format!("plan: {edge}")),
            (Source::NodeRule, _) => Some("node rule".to_owned()),
            (_, Some(Reference::Part(_))) => Some(edge.to_string()),
            _ => None,
        }
    }

    /// The ways to break a cycle, in words: a change of the lists, weights, plans or node rules that its links come from.
    pub(crate) fn way_out(&self, cycle: &[usize]) -> String {
        let steps = self.steps(cycle);
        let says = |source: &Source| {
            steps.iter().any(|(at, link)| {
                let wait = link.and_then(|link| link.wait);
                wait.is_some_and(|wait| self.lists[*at][wait].source == *source)
            })
        };
        let ways = [
            (Source::List, "take one entry out"),
            (Source::Weight, "change a weight"),
            (Source::Plan, "change the plan"),
            (
                Source::NodeRule,
                "let the administrator change the chart's value nodeRules",
            ),
        ];
        let ways = ways.into_iter().filter(|(source, _)| says(source));
        let ways: Vec<_> = ways.map(|(_, way)| way).collect();
        ways.join(", or ")
    }
}
