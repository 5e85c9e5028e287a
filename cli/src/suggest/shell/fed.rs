//! The lines that a loop is fed with.

use super::tokens::Token;

/// The variable that the head of a loop, `while read NAME`, reads lines into, and the text that the end of the loop feeds it with. `behind`
/// is what follows the head.
pub(super) fn of<'t>(head: &'t [String], behind: &'t [Token]) -> Option<(&'t str, &'t str)> {
    let is_loop = matches!(head.first()?.as_str(), "while" | "until");
    let read = head.iter().position(|it| it == "read")?;
    let mut names = head[read + 1..].iter().filter(|it| !it.starts_with('-'));
    let (name, None) = (names.next()?, names.next()) else {
        return None;
    };
    Some((name.as_str(), text(behind)?)).filter(|_| is_loop)
}

/// The text behind the `done` of the loop whose head is before these tokens: `done <<EOF`, or `done <<< "$LINES"`.
fn text(tokens: &[Token]) -> Option<&str> {
    let mut open = 1;
    let mut starts = true;
    let mut rest = tokens.iter();
    while open > 0 {
        let Token::Word(word) = rest.next()? else {
            starts = true;
            continue;
        };
        let word = word.as_str();
        match word {
            "while" | "until" | "for" if starts => open += 1,
            "done" if starts => open -= 1,
            _ => {}
        }
        starts &= matches!(word, "do" | "then" | "else" | "{" | "!");
    }
    let words = rest.map_while(|it| match it {
        Token::Word(word) => Some(word.as_str()),
        _ => None,
    });
    let mut fed = words.skip_while(|it| !it.starts_with("<<<"));
    let first = fed.next()?.trim_start_matches('<');
    if first.is_empty() {
        fed.next()
    } else {
        Some(first)
    }
}
