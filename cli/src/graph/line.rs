//! One line of the graph: whether an object holds its dependent back, and the dependent's verdict on it.

use super::told::{DependentTold, Findings, leaves};
use crate::objects::Graph;
use rules::dependency::{Dependency, Edge, Reference};
use rules::judged::{Judged, Reason};
use rules::verdict::JudgedEdge;

/// The verdict behind one arrow of the graph: of a dependent on one object that one of its waits means.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Whether the object at the end of the line holds the dependent back.
    pub(super) holds: bool,
    /// The reason that the dependent's gate is told; between a Service and its pods there is none.
    pub(super) reason: Option<Reason>,
    /// The object's health as the dependent judges it; `None` where the dependent has no other view than the object's own health.
    pub(super) shown: Option<Judged>,
}

/// The object at the end of a line of the graph: one that was read, by its index, or one that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End<'e> {
    Object(usize),
    /// A missing object of an entry, or of an alternative.
    Missing(&'e Dependency),
}

/// Makes the lines of one object that waits, `from`, out of the verdicts in `findings`.
pub(super) struct Lines<'a, 'o> {
    pub(super) graph: &'a Graph<'o>,
    pub(super) findings: &'a Findings,
    pub(super) from: usize,
}

impl Lines<'_, '_> {
    /// The line to an object because of the wait with the number `wait`; without a number, the wait of a Service for a workload behind it. `None`
    /// where there is no verdict, as for manifests.
    pub(super) fn line(&self, wait: Option<usize>, to: End<'_>) -> Option<Line> {
        let Some(wait) = wait else {
            return self.behind(to);
        };
        let told = self.findings.told.get(&self.from)?;
        let edge = &self.graph.lists[self.from][wait].edge;
        let found = told.of_wait(edge)?;
        let entry = edge.entry();
        match entry.map(|entry| (entry, &entry.reference)) {
            Some((entry, Reference::Any(_))) => {
                self.alternative(found, self.leaf(entry, to)?, told, to)
            }
            Some((_, Reference::Object(_) | Reference::Address(_))) => Some(Line::single(found)),
            Some((_, Reference::Selected(_) | Reference::Part(_))) | None => {
                Some(self.member(found, to))
            }
        }
    }

    /// The line from a Service to a workload that makes its pods: the workload holds the Service back while neither of the two is ready. `None`
    /// where the health of one of them is unknown, and for a missing object.
    fn behind(&self, to: End<'_>) -> Option<Line> {
        let End::Object(to) = to else {
            return None;
        };
        let unready = |at| Some(!self.findings.own.get(&at)?.satisfied);
        Some(Line {
            holds: unready(self.from)? && unready(to)?,
            reason: None,
            shown: None,
        })
    }

    /// The alternative of an entry, at any depth, that means the object; `None` where none does.
    fn leaf<'e>(&self, entry: &'e Dependency, to: End<'_>) -> Option<&'e Dependency> {
        let mut leaves = leaves(entry).into_iter();
        leaves.find(|leaf| match to {
            End::Object(to) => self.graph.meant(self.from, leaf).contains(&to),
            End::Missing(it) => it == *leaf,
        })
    }

    fn alternative(
        &self,
        found: &JudgedEdge,
        leaf: &Dependency,
        told: &DependentTold,
        to: End<'_>,
    ) -> Option<Line> {
        let own = told.of_alternative(leaf)?;
        let line = match &leaf.reference {
            Reference::Object(_) | Reference::Address(_) => Line::single(own),
            _ => self.member(own, to),
        };
        // An alternative that is not needed holds nothing up.
        Some(Line {
            holds: line.holds && !found.judged.satisfied,
            ..line
        })
    }

    /// The line to one of several objects that one entry waits for. Where the entry is satisfied none holds back; else the unready ones do, or all
    /// of them where none is unready or where the verdict may not tell of any.
    fn member(&self, found: &JudgedEdge, to: End<'_>) -> Line {
        let unready = |at: &usize| {
            let own = self.findings.own.get(at);
            own.is_some_and(|own| !own.satisfied)
        };
        let line = Line::single(found);
        if found.judged.satisfied || found.judged.reason == Reason::NotPermitted {
            return line;
        }
        let is_unready = matches!(to, End::Object(to) if unready(&to));
        if self.members(&found.edge).iter().any(unready) {
            return Line {
                holds: is_unready,
                shown: None,
                ..line
            };
        }
        line
    }

    fn members(&self, edge: &Edge) -> Vec<usize> {
        self.graph.meant_by(self.from, edge)
    }
}

impl Line {
    /// The line to the only object of an edge: the verdict on the edge is that on the object.
    fn single(found: &JudgedEdge) -> Self {
        let JudgedEdge {
            judged, foreign, ..
        } = found;
        let message = judged.told(*foreign).unwrap_or_default().to_owned();
        Self {
            holds: !judged.satisfied,
            reason: Some(judged.reason),
            shown: Some(Judged {
                message,
                ..judged.clone()
            }),
        }
    }
}
