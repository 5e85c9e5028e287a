//! The budget of a chart: how many renders each part of the work may spend. The budget is a number and not a time, so that a busy machine
//! proposes the same as an idle one.

/// A part of the work on a chart that has a share of the renders, in the order in which the parts begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RenderShare {
    /// Renders with the sets of values that change one value, a switch.
    Sets,
    /// Renders with the sets of values that change several switches.
    Pairs,
    /// Renders with the sets of values that have marks. Marks are made-up hosts and ports that show which addresses come from which values.
    Followed,
    /// Renders with the sets of values that add one switch to a set in which a container waits for something new.
    Crossed,
    /// Renders with the variations of sets of values, which have other names and texts.
    Varied,
    /// Renders with the lists that are tried in a template. A list that was not tried is not proposed.
    Lists,
    /// Renders of the first audit of the lists that were found.
    Audit,
    /// Renders with the lists that are tried in place of those that an audit refuted, and the renders of the audits behind the first.
    Refuted,
    /// Renders with the lists that are tried in the chart's values.
    Values,
}

/// The shares of the renders of one chart. A part of the work may also spend the renders that the parts before it have left.
#[derive(Debug)]
pub(super) struct RenderBudget {
    pub(super) shares: [(RenderShare, usize); 9],
}

impl Default for RenderBudget {
    fn default() -> Self {
        let shares = [
            (RenderShare::Sets, 80),
            (RenderShare::Pairs, 60),
            (RenderShare::Followed, 30),
            (RenderShare::Crossed, 20),
            (RenderShare::Varied, 25),
            (RenderShare::Lists, 265),
            (RenderShare::Audit, 160),
            (RenderShare::Refuted, 400),
            (RenderShare::Values, 40),
        ];
        Self { shares }
    }
}

impl RenderBudget {
    /// The number of renders of the chart, from the first one on, after which a part of the work renders nothing further: the sum of its own
    /// share and of the shares before it.
    pub(super) fn limit(&self, share: RenderShare) -> usize {
        let spent = self.shares.iter().filter(|it| it.0 <= share);
        spent.map(|it| it.1).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_may_spend_what_the_parts_before_it_have_left() {
        let budget = RenderBudget::default();
        let limits = budget.shares.map(|it| budget.limit(it.0));
        assert_eq!(limits, [80, 140, 170, 190, 215, 480, 640, 1040, 1080]);
        let small = RenderBudget {
            shares: budget.shares.map(|it| (it.0, 1)),
        };
        assert_eq!(small.limit(RenderShare::Values), 9);
    }
}
