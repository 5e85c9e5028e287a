//! Finds the lines that a loop of a shell reads from the text behind its end.

use super::tokens::Token;

/// The variable into which a loop `while read NAME` reads lines, and the text behind the loop's end that holds these lines. `head` is the
/// command that begins the loop, and `behind` are the tokens that follow it. `None` for a loop that reads no such text, or into several
/// variables.
pub(super) fn of<'t>(head: &'t [String], behind: &'t [Token]) -> Option<(&'t str, &'t str)> {
    let is_loop = matches!(head.first()?.as_str(), "while" | "until");
    let read = head.iter().position(|it| it == "read")?;
    let mut names = head[read + 1..].iter().filter(|it| !it.starts_with('-'));
    let (name, None) = (names.next()?, names.next()) else {
        return None;
    };
    Some((name.as_str(), text(behind)?)).filter(|_| is_loop)
}

/// The text behind the `done` of a loop, such as `done <<EOF` or `done <<< "$LINES"`; `None` where the loop does not end or gets no text. `tokens`
/// are the tokens behind the head of the loop.
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
