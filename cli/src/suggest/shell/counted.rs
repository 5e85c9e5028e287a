//! Counts the rounds of a shell's loop, where its numbers stand in the script: the variable of the loop names a pod or a port in each round.

/// The most rounds that are read one by one. A loop with more of them counts its tries.
const MOST: i64 = 12;

/// The numbers that `seq` prints, with a blank between them: `seq 0 2`, `seq 3`, `seq 0 $((3 - 1))`. `None` for another command, and for more
/// than [`MOST`] numbers.
pub(super) fn sequence(command: &str) -> Option<String> {
    let rest = command.trim().strip_prefix("seq ")?;
    let words = words(rest)?;
    let (first, last) = match words.as_slice() {
        [last] => (1, *last),
        [first, last] => (*first, *last),
        _ => return None,
    };
    numbers(first, last)
}

/// The words of a text, each a number or a sum; `None` where any of them is neither.
fn words(text: &str) -> Option<Vec<i64>> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (word, behind) = match rest.strip_prefix("$((") {
            Some(sum) => sum.split_once("))")?,
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        found.push(sum(word)?);
        rest = behind.trim_start();
    }
    Some(found)
}

/// The value of a number, or of a sum or a difference of two; `None` for any other text.
fn sum(text: &str) -> Option<i64> {
    let number = |it: &str| it.trim().trim_matches('"').parse::<i64>().ok();
    let text = text.trim();
    if let Some((one, other)) = text.split_once('+') {
        return Some(number(one)? + number(other)?);
    }
    match text.split_once('-') {
        Some((one, other)) if !one.trim().is_empty() => Some(number(one)? - number(other)?),
        _ => number(text),
    }
}

/// The variable and the numbers of `for ((i = 0; i < 3; i++))`, given the text in the brackets; `None` for another form, and for more than
/// [`MOST`] numbers.
pub(super) fn of_head(text: &str) -> Option<(String, String)> {
    let mut parts = text.split(';').map(str::trim);
    let (name, first) = parts.next()?.split_once('=')?;
    let (name, first) = (name.trim(), sum(first)?);
    let condition = parts.next()?.strip_prefix(name)?.trim_start();
    let last = match condition.strip_prefix("<=") {
        Some(bound) => sum(bound)?,
        None => sum(condition.strip_prefix('<')?)? - 1,
    };
    let step = parts.next()?;
    let is_by_one = step.ends_with("++") || step.starts_with("++") || step.ends_with("+=1");
    is_by_one.then_some((name.to_owned(), numbers(first, last)?))
}

/// The variable and the numbers for which a loop goes on while it tests `[ $i -lt 3 ]`. `first` returns the value of a variable before the loop.
/// `None` for another test, and for more than [`MOST`] numbers.
pub(super) fn of_test(
    test: &[String],
    first: impl Fn(&str) -> Option<String>,
) -> Option<(String, Vec<String>)> {
    let words: Vec<&str> = test.iter().map(String::as_str).collect();
    let ["[" | "[[", variable, operator, bound, "]" | "]]"] = words.as_slice() else {
        return None;
    };
    let name = variable.strip_prefix('$')?.trim_matches(['{', '}']);
    let bound = match bound.strip_prefix('$') {
        Some(other) => first(other.trim_matches(['{', '}']))?,
        None => (*bound).to_owned(),
    };
    let last = match *operator {
        "-lt" | "!=" | "-ne" => sum(&bound)? - 1,
        "-le" => sum(&bound)?,
        _ => return None,
    };
    let numbers = numbers(sum(&first(name)?)?, last)?;
    let each = numbers.split(' ').map(str::to_owned).collect();
    Some((name.to_owned(), each))
}

/// The numbers of `{0..2}`, with a blank between them; `None` for another text, and for more than [`MOST`] numbers.
pub(super) fn of_braces(text: &str) -> Option<String> {
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    let (first, last) = inside.split_once("..")?;
    numbers(sum(first)?, sum(last)?)
}

fn numbers(first: i64, last: i64) -> Option<String> {
    let count = last.checked_sub(first)?.checked_add(1)?;
    let all = (first..=last).map(|it| it.to_string());
    let is_few = (1..=MOST).contains(&count);
    is_few.then(|| all.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_of_few_rounds_is_counted() {
        for (command, expected) in [
            ("seq 3", Some("1 2 3")),
            ("seq 0 2", Some("0 1 2")),
            ("seq 0 $((3 - 1))", Some("0 1 2")),
            ("seq 1 60", None),
            ("seq 0 $N", None),
            ("seq 3 1", None),
        ] {
            assert_eq!(sequence(command).as_deref(), expected, "{command}");
        }
        for (head, expected) in [
            ("i=0;i<3;i++", Some("0 1 2")),
            ("i = 1 ; i <= 2 ; i+=1", Some("1 2")),
            ("i=0; i<n; i++", None),
            ("i=10; i>0; i--", None),
        ] {
            let found = of_head(head).map(|it| it.1);
            assert_eq!(found.as_deref(), expected, "{head}");
        }
        assert_eq!(of_braces("{0..1}").as_deref(), Some("0 1"));
        assert_eq!(of_braces("${X}"), None);
    }
}
