//! Splits a shell's text into words. Quotes are removed, and a quoted text stays one word.

use super::counted;

/// A word or a sign of a shell's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// The end of a command: `;`, `|`, `&`, a line break, or a bracket.
    End,
    /// The mark that follows an end by `;`, a line break or a closing bracket: the next command does not depend on the one before.
    Next,
    /// The mark that follows an end by `||`: the next command runs where the one before fails.
    Or,
    /// The mark that follows an end by `|` or by the end of `$( )`: another command reads the output of the one before.
    Pipe,
    /// The head of a function, `name()`: its body follows in braces.
    Function(String),
}

/// Splits a text into tokens. A text in `$( )` or in backticks is a command of its own, and its tokens follow the tokens of the command
/// that contains it.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut reader = ShellReader {
        letters: text.chars().collect(),
        ..ShellReader::default()
    };
    reader.read();
    reader.found
}

#[derive(Debug, Default)]
struct ShellReader {
    letters: Vec<char>,
    at: usize,
    word: String,
    /// Whether a word has begun. A word may be empty, such as `''`.
    begun: bool,
    found: Vec<Token>,
    /// The texts in `$( )` or backticks of the present command, which are read after the command.
    inside: Vec<String>,
    /// The words, such as `EOF` in `<<EOF`, that end the here-documents which follow the present line.
    here: Vec<String>,
}

impl ShellReader {
    fn peek(&self, by: usize) -> Option<char> {
        self.letters.get(self.at + by).copied()
    }

    fn read(&mut self) {
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            match letter {
                '\n' => {
                    self.finish();
                    self.take_here();
                    self.end();
                    self.found.push(Token::Next);
                }
                ' ' | '\t' | '\r' => self.finish(),
                '#' if !self.begun => self.skip_line(),
                '\\' => self.escape(),
                '\'' => self.single(),
                '"' => self.double(),
                '$' | '`' => self.dollar(letter),
                '<' | '>' => self.redirect(letter),
                '(' if self.begun && self.word.ends_with('=') => self.array(),
                '(' if self.begun && self.peek(0) == Some(')') => {
                    self.at += 1;
                    let name = std::mem::take(&mut self.word);
                    self.begun = false;
                    self.found.push(Token::Function(name));
                }
                '(' if self.peek(0) == Some(')') && self.is_alone() => {
                    self.at += 1;
                    if let Some(Token::Word(name)) = self.found.pop() {
                        self.found.push(Token::Function(name));
                    }
                }
                '(' if self.peek(0) == Some('(') => self.head(),
                '|' if self.peek(0) == Some('|') => {
                    self.at += 1;
                    self.end();
                    self.found.push(Token::Or);
                }
                ';' | ')' => {
                    self.end();
                    self.found.push(Token::Next);
                }
                '|' => {
                    self.end();
                    self.found.push(Token::Pipe);
                }
                '&' | '(' => self.end(),
                _ => self.push(letter),
            }
        }
        self.end();
    }

    /// Whether the present command consists of one word so far.
    fn is_alone(&self) -> bool {
        let words = self
            .found
            .iter()
            .rev()
            .take_while(|it| matches!(it, Token::Word(_)));
        let words: Vec<_> = words.collect();
        let is_function = |it: &&Token| matches!(it, Token::Word(it) if it == "function");
        !self.begun && words.iter().filter(|it| !is_function(it)).count() == 1
    }

    fn push(&mut self, letter: char) {
        self.begun = true;
        self.word.push(letter);
    }

    fn finish(&mut self) {
        if self.begun {
            self.found.push(Token::Word(std::mem::take(&mut self.word)));
        }
        self.begun = false;
    }

    fn end(&mut self) {
        self.finish();
        self.found.push(Token::End);
        for inside in std::mem::take(&mut self.inside) {
            self.found.extend(tokens(&inside));
            self.found.push(Token::Pipe);
        }
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|it| it != '\n') {
            self.at += 1;
        }
    }

    /// Reads the lines of each here-document up to the word that ends it, such as `EOF`. The lines become a word of an interpreter's command, or
    /// of the end of a loop. Any other command drops them.
    fn take_here(&mut self) {
        const READERS: [&str; 7] = ["python", "python3", "node", "ruby", "perl", "php", "done"];
        for end in std::mem::take(&mut self.here) {
            let mut lines = String::new();
            while self.at < self.letters.len() {
                let start = self.at;
                self.skip_line();
                let line: String = self.letters[start..self.at].iter().collect();
                self.at += 1;
                if line.trim() == end {
                    break;
                }
                lines.push_str(&line);
                lines.push('\n');
            }
            self.at = self.at.min(self.letters.len());
            let mut words = (self.found.iter().rev()).map_while(|it| match it {
                Token::Word(word) => word.rsplit('/').next(),
                _ => None,
            });
            if words.any(|it| READERS.contains(&it)) {
                self.found.push(Token::Word(format!("<<<{lines}")));
            }
        }
    }

    fn escape(&mut self) {
        match self.peek(0) {
            Some('\n') => self.at += 1,
            Some(letter) => {
                self.at += 1;
                self.push(letter);
            }
            None => {}
        }
    }

    fn single(&mut self) {
        self.begun = true;
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            if letter == '\'' {
                break;
            }
            self.word.push(letter);
        }
    }

    fn double(&mut self) {
        self.begun = true;
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            match letter {
                '"' => break,
                '\\' => self.escape(),
                '$' | '`' => self.dollar(letter),
                _ => self.word.push(letter),
            }
        }
    }

    /// Reads on behind a `$` or a backtick. `${ }` and `$NAME` stay as they are. `$( )` and backticks are commands: a known output takes their place,
    /// or else they are read after the present command. `$(( ))` is a sum, which becomes `0`, and `$(NAME)` is a variable in the form of a
    /// container's arguments.
    fn dollar(&mut self, letter: char) {
        if letter == '$' && self.peek(0) == Some('{') {
            self.push('$');
            let mut open = 0;
            while let Some(letter) = self.peek(0) {
                self.at += 1;
                self.push(letter);
                open += i32::from(letter == '{') - i32::from(letter == '}');
                if open == 0 {
                    break;
                }
            }
            return;
        }
        if letter == '$' && self.peek(0) != Some('(') {
            return self.push('$');
        }
        if self.peek(1) == Some('(') && letter == '$' {
            self.skip_sum();
            return self.push('0');
        }
        let close = if letter == '$' { ')' } else { '`' };
        self.at += usize::from(letter == '$');
        let inside = self.up_to(close);
        let is_variable = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
        if let Some(variable) = super::outputs::variable(&inside) {
            self.begun = true;
            self.word.push_str(&variable);
            return;
        }
        if let Some(numbers) = counted::sequence(&inside) {
            self.begun = true;
            self.word.push_str(&numbers);
            return;
        }
        // The command is a wait of its own, too.
        if let Some(host) = super::outputs::looked_up(&inside) {
            self.word.push_str(host);
        }
        if letter == '$' && !inside.is_empty() && inside.chars().all(is_variable) {
            self.begun = true;
            self.word.extend(["${", inside.as_str(), "}"]);
        } else {
            self.begun = true;
            self.inside.push(inside);
        }
    }

    /// Reads the items of an array, `name=(a b)`, as one word, `name=a b`. A loop over the array splits the word again.
    fn array(&mut self) {
        let inside = self.up_to(')');
        let items = tokens(&inside).into_iter().filter_map(|it| match it {
            Token::Word(word) => Some(word),
            _ => None,
        });
        let items: Vec<String> = items.collect();
        self.word.push_str(&items.join(" "));
    }

    /// The text up to the bracket that closes the open one.
    fn up_to(&mut self, close: char) -> String {
        let mut inside = String::new();
        let mut open = 1;
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            open += i32::from(letter == '(' && close == ')');
            open -= i32::from(letter == close);
            if open == 0 {
                break;
            }
            inside.push(letter);
        }
        inside
    }

    /// Reads the head of a loop, `for ((i = 0; i < 3; i++))`, as `for i in 0 1 2`, and skips any other sum.
    fn head(&mut self) {
        let start = self.at + 1;
        self.skip_sum();
        let end = self.at.saturating_sub(2).max(start);
        let inside: String = self.letters[start..end].iter().collect();
        let is_head = matches!(self.found.last(), Some(Token::Word(it)) if it == "for");
        if let Some((name, numbers)) = counted::of_head(&inside).filter(|_| is_head) {
            let words = [name, "in".to_owned(), numbers];
            self.found.extend(words.map(Token::Word));
        }
    }

    /// Skips the rest of a sum, `(( … ))`, with both brackets at its end.
    fn skip_sum(&mut self) {
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            if letter == ')' && self.peek(0) == Some(')') {
                self.at += 1;
                break;
            }
        }
    }

    /// Reads a redirection as a word that begins with `>` or `<`, so that the target of the redirection does not count as an argument. Behind `<<` it
    /// also notes the word that ends the here-document.
    fn redirect(&mut self, letter: char) {
        let number = self.word.chars().all(|it| it.is_ascii_digit());
        if !number {
            self.finish();
        }
        self.push(letter);
        while let Some(next @ ('<' | '>' | '&')) = self.peek(0) {
            self.at += 1;
            self.push(next);
        }
        if self.word == "<<" {
            let rest: String = self.letters[self.at..].iter().take(40).collect();
            let word = rest.split_whitespace().next().unwrap_or_default();
            let end = word.trim_start_matches('-').trim_matches(['"', '\'']);
            if !end.is_empty() {
                self.here.push(end.to_owned());
            }
        }
    }
}

/// The body of a function, which is the tokens between its braces, and the place behind the body; `from` is the place behind the function's
/// head. Without an opening brace the body is empty and the place is `from`; without a closing one the body goes on to the end.
pub(super) fn body(tokens: &[Token], from: usize) -> (&[Token], usize) {
    let is = |at: usize, text: &str| matches!(&tokens[at], Token::Word(word) if word == text);
    let mut start = from;
    while start < tokens.len() && matches!(tokens[start], Token::End | Token::Next) {
        start += 1;
    }
    if start >= tokens.len() || !is(start, "{") {
        return (&[], from);
    }
    let mut open = 0;
    for at in start..tokens.len() {
        open += i32::from(is(at, "{")) - i32::from(is(at, "}"));
        if open == 0 {
            return (&tokens[start + 1..at], at + 1);
        }
    }
    (&tokens[start + 1..], tokens.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let found = tokens(text);
        let words = found.iter().map(|token| match token {
            Token::Word(word) => format!("<{word}>"),
            Token::End => ";".to_owned(),
            Token::Next | Token::Pipe => String::new(),
            Token::Or => "|".to_owned(),
            Token::Function(name) => format!("{name}()"),
        });
        words.collect()
    }

    #[test]
    fn words_are_read_as_a_shell_reads_them() {
        for (text, expected) in [
            ("nc -z 'a b' \"c $D\"", "<nc><-z><a b><c $D>;"),
            ("a; b && c | d", "<a>;<b>;;<c>;<d>;"),
            ("a || b", "<a>;|<b>;"),
            ("a \\\n  b # c\nd", "<a><b>;<d>;"),
            (
                "until [ $(curl -s http://a) != 200 ]",
                "<until><[><><!=><200><]>;<curl><-s><http://a>;",
            ),
            ("a $(HOST) ${B:-c}", "<a><${HOST}><${B:-c}>;"),
            (
                "a >/dev/null 2>&1 </dev/tcp/b/1",
                "<a><>/dev/null><2>&1><</dev/tcp/b/1>;",
            ),
            ("f() { a; }", "f()<{><a>;<}>;"),
            ("b; f () { a; }", "<b>;f()<{><a>;<}>;"),
            ("function f () { a; }", "<function>f()<{><a>;<}>;"),
            ("for ((i=0;i<3;i++)); do a", "<for><i><in><0 1 2>;<do><a>;"),
            ("for ((i=0;i<n;i++)); do a", "<for>;<do><a>;"),
            ("for i in $(seq 2); do a", "<for><i><in><1 2>;<do><a>;"),
            ("cat <<EOF\nnc a 1\nEOF\nb", "<cat><<<EOF>;<b>;"),
            ("a=(\n  b\n  \"c\"\n)\nd", "<a=b c>;<d>;"),
            ("a `b c` $((1 + 2))", "<a><><0>;<b><c>;"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
