//! A switch: one value of a chart, with another setting than the chart's own.

use super::comparison::Comparison;
use super::host_list::HostList;

/// The made-up name for a value by which a user names an object of the chart.
pub(super) const NAMED: &str = "sluice-named";
/// The made-up address for a value that holds a host: no object of the chart has it.
pub(super) const ELSEWHERE: &str = "sluice.example.com";
/// The made-up text for a value that a template compares with the chart's own value: it is none of the texts in the comparison.
pub(super) const OTHER: &str = "sluice-other";

/// A switch: one value of the chart, with another setting than the chart's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Switch {
    /// The path of the value in the chart's values, such as `postgresql.enabled`.
    pub(super) path: String,
    pub(super) value: String,
    pub(super) tested: Tested,
}

/// The way in which a template tests the value of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tested {
    /// The template tests whether the value is set.
    IsSet,
    /// The template tests whether the value is equal to the switch's.
    Equals,
    /// The template tests whether the value is one of several texts, and the value of the switch is one of them.
    Among(Comparison),
    /// The template tests whether the value is one of these texts, and only the chart's own value is.
    Other(Comparison),
    /// The template tests nothing. The value only shows whether a list follows when it changes. `is_name`: the value makes the names of
    /// objects.
    Varied { is_name: bool },
    /// The template tests nothing. The value of the switch is a mark, which is a made-up host or port: an address with the mark comes from
    /// this value. `own` is the chart's own value.
    Follows { own: String },
    /// The template walks through the value, a list. Each element has made-up hosts and ports (marks) of its own; the value of the switch is empty.
    Each(HostList),
}

impl Switch {
    /// The path and the value of the switch, in the form that Helm's `--set` takes.
    pub(super) fn pair(&self) -> String {
        match &self.tested {
            Tested::Each(list) => list.pairs(&self.path),
            _ => format!("{}={}", self.path, self.value),
        }
    }

    /// The path and the value of the switch for a message. A made-up text tells a user nothing.
    pub(super) fn told(&self) -> String {
        if is_made_up(&self.value) {
            format!("another {}", self.path)
        } else {
            self.pair()
        }
    }

    /// The marks of the switch, which are made-up hosts and ports: those of the elements of its list, or else its value, which may be no mark.
    pub(super) fn marks(&self) -> Vec<&str> {
        match &self.tested {
            Tested::Each(list) => list.marks().map(|it| it.0).collect(),
            _ => vec![self.value.as_str()],
        }
    }

    /// The list whose elements the switch sets to made-up addresses; `None` for a switch of a single value.
    pub(super) fn list(&self) -> Option<&HostList> {
        match &self.tested {
            Tested::Each(list) => Some(list),
            _ => None,
        }
    }

    /// Whether the switch sets a text that a user would choose: neither `true` nor `false`, and no name of the chart's objects.
    pub(super) fn is_text(&self) -> bool {
        let is_name = self.is_name() || is_override(&self.path);
        !is_name && !matches!(self.value.as_str(), "true" | "false")
    }

    /// Whether the switch sets a value to none of the texts with which a template compares it.
    pub(super) fn is_other(&self) -> bool {
        matches!(self.tested, Tested::Other(_))
    }

    /// Whether a template compares the value with texts.
    pub(super) fn is_compared(&self) -> bool {
        matches!(
            self.tested,
            Tested::Equals | Tested::Among(_) | Tested::Other(_)
        )
    }

    /// Whether the switch belongs to a variation, which only shows whether a list follows when a value or a name changes.
    pub(super) fn is_varied(&self) -> bool {
        matches!(self.tested, Tested::Varied { .. })
    }

    /// Whether the switch gives objects other names, and only shows whether a list follows.
    pub(super) fn is_name(&self) -> bool {
        self.tested == Tested::Varied { is_name: true }
    }

    /// Whether a text of a template reads the value of the switch, or a value whose path begins with the switch's path.
    pub(super) fn is_read_in(&self, text: &str) -> bool {
        text.contains(&format!(".Values.{}", self.path))
    }

    /// A copy of the switch. If it sets a value to none of some texts, the texts that the switches in `all` give that value are added to these
    /// texts.
    pub(super) fn widened<'s>(&self, all: impl Iterator<Item = &'s Self>) -> Self {
        let mut switch = self.clone();
        if let Tested::Other(comparison) = &mut switch.tested {
            let same = all.filter(|it| it.path == self.path);
            for text in same.filter(|it| it.is_compared() && !it.is_other()) {
                comparison.add(&text.value);
            }
        }
        switch
    }

    /// Whether the switch sets a mark, a made-up host or port that shows which addresses come from the value.
    pub(super) fn follows(&self) -> bool {
        matches!(self.tested, Tested::Follows { .. } | Tested::Each(_))
    }

    /// The condition, for a template, that holds while the value is as the switch sets it. `None` for a switch that no condition can test: a
    /// variation, a mark in a list, and a mark in place of the chart's own port.
    pub(super) fn holds(&self, root: &str) -> Option<String> {
        self.condition(root, true)
    }

    /// The condition, for a template, that holds while the value is as the chart has it. `None` for a switch that no condition can test: a variation,
    /// a mark in a list, and a mark in place of the chart's own port.
    pub(super) fn holds_not(&self, root: &str) -> Option<String> {
        self.condition(root, false)
    }

    fn condition(&self, root: &str, on: bool) -> Option<String> {
        let path = format!("{root}.Values.{}", self.path);
        let is_set = |on: bool| {
            if on {
                path.clone()
            } else {
                format!("(not {path})")
            }
        };
        let equals = |word: &str, text: &str| format!("({word} {path} \"{text}\")");
        Some(match (&self.tested, on) {
            (Tested::Equals, true) => equals("eq", &self.value),
            (Tested::Equals, false) => equals("ne", &self.value),
            (Tested::Among(it), true) | (Tested::Other(it), false) => it.holds(&path),
            (Tested::Among(it), false) | (Tested::Other(it), true) => it.fails(&path),
            (Tested::IsSet, on) => is_set(on == (self.value != "false")),
            (Tested::Follows { own }, on) if own.is_empty() => is_set(on),
            // The `range` over a list says when its entries are there.
            (Tested::Each(_) | Tested::Varied { .. }, _) => return None,
            // Every port is as good as the chart's own.
            (Tested::Follows { own }, _) if own.parse::<u16>().is_ok() => return None,
            (Tested::Follows { own }, true) => equals("ne", own),
            (Tested::Follows { own }, false) => equals("eq", own),
        })
    }
}

/// Whether a text contains a name, an address or another text that was made up for a switch: [`NAMED`], [`ELSEWHERE`] or [`OTHER`].
pub(super) fn is_made_up(text: &str) -> bool {
    [NAMED, ELSEWHERE, OTHER].iter().any(|it| text.contains(it))
}

/// Whether a value overrides the names of a chart's objects. Such a name is that of an object, and no host that a user chooses.
pub(super) fn is_override(path: &str) -> bool {
    let key = path.rsplit('.').next().unwrap_or_default();
    matches!(key, "fullnameOverride" | "nameOverride")
}
