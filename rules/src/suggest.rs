//! "Did you mean": the likely word for a misspelt one.

use std::cell::LazyCell;

/// The word nearest to `text`, letter case aside, if it is near enough to be a slip of the fingers: within two edits,
/// one for words of up to five letters, none for words of two. The first of equally near words wins.
pub fn nearest<'w>(text: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let length = text.chars().count();
    let text = LazyCell::new(|| text.to_lowercase().chars().collect::<Vec<char>>());
    let reach = match length {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    words
        .into_iter()
        // Words are known and short: this also keeps a text of any length from costing more than a glance.
        .filter(|word| word.len().abs_diff(length) <= reach)
        .map(|word| (edits(&text, &word.to_lowercase()), word))
        .filter(|(edits, _)| *edits <= reach)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, word)| word)
}

/// The optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
fn edits(from: &[char], to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, &letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &other) in to.iter().enumerate() {
            let substituted = above[column] + usize::from(letter != other);
            let mut best = substituted
                .min(above[column + 1] + 1)
                .min(current[column] + 1);
            if row > 0 && column > 0 && letter == to[column - 1] && from[row - 1] == other {
                let swapped: &Vec<usize> = &before;
                best = best.min(swapped[column - 1] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut above, current);
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 4] = ["Deployment", "job", "jobs", "StatefulSet"];

    #[test]
    fn finds_slips_and_nothing_else() {
        for (text, expected) in [
            ("Deploymnt", Some("Deployment")),
            ("deplyoment", Some("Deployment")),
            ("Dploymnt", Some("Deployment")),
            ("dplymnt", None),
            ("jbo", Some("job")),
            ("jbos", Some("jobs")),
            ("statefullset", Some("StatefulSet")),
            ("statefullsets", Some("StatefulSet")),
            ("jo", None),
            ("xyz", None),
            ("", None),
        ] {
            assert_eq!(nearest(text, WORDS), expected, "{text}");
        }
    }

    #[test]
    fn counts_every_kind_of_edit_as_one() {
        for (from, to, expected) in [
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("abc", "abd", 1),
            ("abc", "acb", 1),
            ("abc", "ab", 1),
            ("abc", "xabc", 1),
            ("abcd", "badc", 2),
        ] {
            let from: Vec<char> = from.chars().collect();
            assert_eq!(edits(&from, to), expected, "{from:?} {to}");
        }
    }
}
