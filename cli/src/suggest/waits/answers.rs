//! Finds the scripts that read more from an answer than that it came.

/// Whether a script compares the number in an answer: `n=$(wget -qO- URL)`, then `[ $n -gt 0 ]`. An entry would only ask whether the
/// address answers, and so would ask less.
pub(super) fn counts_answers(script: &str) -> bool {
    let tests = [" -gt ", " -ge ", " -lt ", " -le ", " -eq "];
    let compared = tests.iter().flat_map(|it| script.match_indices(it));
    let names = compared.filter_map(|(at, _)| script[..at].rsplit(char::is_whitespace).next());
    let names = names.map(|it| it.trim_matches(['"', '$', '{', '}', '[', '(']));
    names.filter(|it| !it.is_empty()).any(|name| {
        // The name of another variable may end with this name.
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let start = format!("{name}=$(");
        let set = script.match_indices(start.as_str());
        let set = set.filter(|(at, _)| !script[..*at].ends_with(is_name));
        let mut commands = set.filter_map(|(at, it)| {
            let behind = &script[at + it.len()..];
            behind.split([';', '\n']).next()
        });
        let reads = |it: &str| {
            ["cat ", "curl ", "wget "]
                .iter()
                .any(|word| it.contains(word))
        };
        commands.any(|it| reads(it) && !it.contains("_code"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_an_answer_is_more_than_an_answer() {
        for (script, expected) in [
            ("n=$(curl -s http://api/count); [ $n -gt 0 ]", true),
            (
                "wget -qO /tmp/n http://api; N=$(cat /tmp/n)\nif [ \"${N}\" -ge 2 ]; then break; fi",
                true,
            ),
            (
                "code=$(curl -s -w '%{http_code}' http://api); [ $code -eq 200 ]",
                false,
            ),
            (
                "all_result=$(curl -s http://api); result=$?; [ $result -eq 0 ]",
                false,
            ),
            ("i=$((i+1)); curl -s http://api; [ $i -gt 30 ]", false),
        ] {
            assert_eq!(counts_answers(script), expected, "{script}");
        }
    }
}
