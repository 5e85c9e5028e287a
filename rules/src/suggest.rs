//! "Did you mean": the likely word for a misspelt one, and for a name that a tool has changed.

use std::cell::LazyCell;
use std::ops::RangeInclusive;

/// The word nearest to `text`, letter case aside, if it is near enough to be a slip of the fingers: within two edits, one for a text of up to five
/// letters, none for one of up to two. The first of equally near words wins; `None` where no word is near enough.
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

/// The name that a tool such as kustomize made of `name`, as far as the dependent's `own` name shows it: `prod-db` for `db`, beside
/// `prod-api`. The tool put a prefix that ends with `-` in front of every name, a suffix that begins with `-` behind it, or both.
/// A generated object has the hash of its content behind that, where the dependent has none. Of several names the one with the longest
/// prefix and suffix wins, and of equally long ones the first.
pub fn affixed<'w>(
    name: &str,
    own: &str,
    words: impl IntoIterator<Item = &'w str>,
) -> Option<&'w str> {
    let shared = |word: &'w str| {
        let plain = hashless(word).filter(|plain| carries(plain, name, own));
        let of_both = (word != name && carries(word, name, own)).then_some(word);
        of_both.or(plain).map(|bare| (bare.len(), word))
    };
    // `max_by_key` takes the last of equal ones.
    let mut longest = None;
    for (length, word) in words.into_iter().filter_map(shared) {
        if longest.is_none_or(|(before, _)| length > before) {
            longest = Some((length, word));
        }
    }
    longest.map(|(_, word)| word)
}

/// Whether `word` is `name` with a prefix and a suffix that `own` has too. Each may be empty; `own` itself has to differ from `word`.
fn carries(word: &str, name: &str, own: &str) -> bool {
    if name.is_empty() || own == word {
        return false;
    }
    let mut places = word.match_indices(name);
    places.any(|(at, _)| {
        let (prefix, suffix) = (&word[..at], &word[at + name.len()..]);
        let of_names = (prefix.is_empty() || prefix.ends_with('-') && prefix.len() > 1)
            && (suffix.is_empty() || suffix.starts_with('-') && suffix.len() > 1);
        of_names
            && prefix.len() + suffix.len() < own.len()
            && own.starts_with(prefix)
            && own.ends_with(suffix)
    })
}

/// A name without the hash that kustomize writes behind the names of ConfigMaps and Secrets that it generates; `None` for a name without such a
/// hash.
fn hashless(word: &str) -> Option<&str> {
    without_hash(word, 10..=10, "2456789bcdfghkmt")
}

/// The name of the Deployment whose ReplicaSet may have this name. A Deployment puts the hash of its pod template behind its own name, in
/// the safe letters of Kubernetes. A name without a hash is the Deployment's own.
pub fn of_deployment(replica_set: &str) -> &str {
    without_hash(replica_set, 8..=10, "bcdfghjklmnpqrstvwxz2456789").unwrap_or(replica_set)
}

/// The part of a name before a `-` and a hash of one of these lengths in these letters; `None` for a name without such a hash.
fn without_hash<'w>(
    word: &'w str,
    length: RangeInclusive<usize>,
    letters: &str,
) -> Option<&'w str> {
    let (plain, hash) = word.rsplit_once('-')?;
    let is_hash = length.contains(&hash.len()) && hash.chars().all(|it| letters.contains(it));
    is_hash.then_some(plain)
}

/// The number of edits between two words, letter case aside.
pub fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.to_lowercase().chars().collect();
    edits(&from, &to.to_lowercase())
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

    #[test]
    fn a_replica_set_is_called_after_its_deployment() {
        for (name, expected) in [
            ("store", "store"),
            ("store-6d5f8b7c9d", "store"),
            ("store-db-5f7bdc8c", "store-db"),
            ("store-db", "store-db"),
            ("store-migration", "store-migration"),
        ] {
            assert_eq!(of_deployment(name), expected);
        }
    }

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

    #[test]
    fn affixes_that_the_dependent_shares_are_seen_through() {
        let words = [
            "prod-db",
            "users-db",
            "prod-eu-db",
            "db-blue",
            "prod-db-blue",
            "set-6ct58987ht",
            "prod-set-f2kg77m92h",
        ];
        for (name, own, expected) in [
            ("db", "prod-api", Some("prod-db")),
            ("db", "prod-eu-api", Some("prod-eu-db")),
            ("db", "api-blue", Some("db-blue")),
            ("db", "prod-api-blue", Some("prod-db-blue")),
            ("db", "api", None),
            ("db", "production-api", None),
            ("set", "api", Some("set-6ct58987ht")),
            ("set", "prod-api", Some("prod-set-f2kg77m92h")),
            ("b", "prod-api", None),
            ("", "prod-api", None),
            ("rod-db", "prod-api", None),
        ] {
            assert_eq!(affixed(name, own, words), expected, "{name} {own}");
        }
        assert_eq!(affixed("db", "prod-db", ["prod-db"]), None, "itself");
        assert_eq!(affixed("db", "a-b", ["a-db", "a-db"]), Some("a-db"));
    }
}
