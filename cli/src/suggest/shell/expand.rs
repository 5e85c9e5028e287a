//! Replaces the variables in a word of a shell by their values, as far as the values are known.

use std::collections::BTreeMap;

/// The most texts that one word may expand to.
const MOST: usize = 16;
/// The longest chain of variables that refer to each other.
const DEEPEST: usize = 6;

/// The variables and arguments whose values are known at one place of a script.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    /// The values of each variable, by the variable's name. The variable of a `for` has several values.
    pub(super) variables: BTreeMap<String, Vec<String>>,
    /// The arguments of the function that contains the place.
    pub(super) arguments: Vec<String>,
    /// The value of `$0`, where a command such as `sh -c TEXT NAME` sets it; otherwise `None`.
    pub(super) own_name: Option<String>,
}

impl Scope {
    pub(super) fn set(&mut self, name: &str, values: Vec<String>) {
        self.variables.insert(name.to_owned(), values);
    }

    /// The texts that a word may stand for, at most [`MOST`]. A variable without a known value stays in them, in the form `$(NAME)`.
    pub(super) fn expand(&self, word: &str) -> Vec<String> {
        self.expanded(word, 0)
    }

    fn expanded(&self, word: &str, depth: usize) -> Vec<String> {
        let Some((before, name, operator, behind)) = first_variable(word) else {
            return vec![word.to_owned()];
        };
        let default = [":-", "-", ":="]
            .iter()
            .find_map(|it| operator.strip_prefix(it));
        let known = self.known(name, default).filter(|_| depth < DEEPEST);
        let values = match known {
            Some(values) => {
                let inner = values.iter().flat_map(|it| self.expanded(it, depth + 1));
                let cut = inner.map(|it| {
                    if is_unknown(&it) {
                        it
                    } else {
                        cut(&it, operator).to_owned()
                    }
                });
                cut.take(MOST).collect()
            }
            None => vec![format!("$({name})")],
        };
        let rest = self.expanded(behind, depth);
        let pairs = values.iter().flat_map(|value| {
            rest.iter()
                .map(move |rest| format!("{before}{value}{rest}"))
        });
        pairs.take(MOST).collect()
    }

    fn known(&self, name: &str, default: Option<&str>) -> Option<Vec<String>> {
        let default = || default.map(|it| vec![it.to_owned()]);
        if let Ok(number) = name.parse::<usize>() {
            let argument = match number.checked_sub(1) {
                Some(at) => self.arguments.get(at),
                None => self.own_name.as_ref(),
            };
            return argument.map(|it| vec![it.clone()]).or_else(default);
        }
        if matches!(name, "@" | "*") {
            return (!self.arguments.is_empty()).then(|| vec![self.arguments.join(" ")]);
        }
        let own = self.variables.get(name).filter(|it| !it.is_empty());
        own.cloned().or_else(default)
    }
}

/// The first variable of a word: the text before it, its name, the operator on it with the operand, such as `:-default`, and the text behind it.
/// `None` for a word without a variable. The fields of a container write a variable as `$(NAME)`, and that form counts too.
fn first_variable(word: &str) -> Option<(&str, &str, &str, &str)> {
    let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let mut from = 0;
    loop {
        let at = from + word[from..].find('$')?;
        let behind = &word[at + 1..];
        if let Some(braced) = behind.strip_prefix('{') {
            let end = braced.find('}')?;
            let inside = &braced[..end];
            let is_name = |it: char| is_letter(it) || matches!(it, '@' | '*');
            let inside = inside.trim_start_matches(['!', '#']);
            let length = inside.find(|it| !is_name(it)).unwrap_or(inside.len());
            let (name, operator) = inside.split_at(length);
            return Some((&word[..at], name, operator, &braced[end + 1..]));
        }
        let of_field = behind.strip_prefix('(').and_then(|it| it.split_once(')'));
        if let Some((name, rest)) = of_field
            && !name.is_empty()
            && name.chars().all(is_letter)
        {
            return Some((&word[..at], name, "", rest));
        }
        let length = match behind.chars().next() {
            Some('@' | '*') => 1,
            Some(first) if first.is_ascii_digit() => 1,
            _ => behind.find(|it| !is_letter(it)).unwrap_or(behind.len()),
        };
        if length > 0 {
            let (name, rest) = behind.split_at(length);
            return Some((&word[..at], name, "", rest));
        }
        from = at + 1;
    }
}

/// Whether a text holds a variable without a known value.
fn is_unknown(text: &str) -> bool {
    text.contains("$(")
}

/// The part of a value that an operator of the shell leaves: with `%%:*` and `%:*` the part before a colon, with `##*:` and `#*:` the part
/// behind it. Any other pattern leaves the whole value.
fn cut<'v>(value: &'v str, operator: &str) -> &'v str {
    let Some(sign) = operator.chars().next().filter(|it| matches!(it, '%' | '#')) else {
        return value;
    };
    let takes_behind = sign == '#';
    let pattern = &operator[1..];
    let longest = pattern.strip_prefix(sign);
    let pattern = longest.unwrap_or(pattern);
    let literal = if takes_behind {
        pattern.strip_prefix('*')
    } else {
        pattern.strip_suffix('*')
    };
    let literal = literal.unwrap_or_default().trim_matches(['"', '\'', '\\']);
    if literal.is_empty() || literal.contains(['*', '?', '[', '$']) {
        return value;
    }
    // The longest cut from the front ends at the last place of the literal, and the longest cut from the back begins at the first place.
    let found = if longest.is_some() == takes_behind {
        value.rfind(literal)
    } else {
        value.find(literal)
    };
    match found {
        Some(at) if takes_behind => &value[at + literal.len()..],
        Some(at) => &value[..at],
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_what_its_variables_say() {
        let mut scope = Scope::default();
        scope.set("HOST", vec!["db".to_owned()]);
        scope.set("EACH", vec!["a".to_owned(), "b".to_owned()]);
        scope.set("URL", vec!["http://${HOST}:80".to_owned()]);
        scope.set("SELF", vec!["$SELF".to_owned()]);
        scope.arguments = vec!["one".to_owned()];
        for (word, expected) in [
            ("$HOST:1", vec!["db:1"]),
            ("${URL#*://}", vec!["db:80"]),
            ("${URL##*:}", vec!["80"]),
            ("${URL%:*}", vec!["http://db"]),
            ("${URL%%[:/]*}", vec!["http://db:80"]),
            ("${NONE%%:*}", vec!["$(NONE)"]),
            ("$(HOST):1", vec!["db:1"]),
            ("$EACH-x", vec!["a-x", "b-x"]),
            ("${NONE:-c}", vec!["c"]),
            ("$NONE", vec!["$(NONE)"]),
            ("${1:?missing}", vec!["one"]),
            ("$(SELF)", vec!["$(SELF)"]),
            ("100$", vec!["100$"]),
        ] {
            assert_eq!(scope.expand(word), expected, "{word}");
        }
        assert_eq!(scope.expand("$SELF"), ["$(SELF)"]);
    }
}
