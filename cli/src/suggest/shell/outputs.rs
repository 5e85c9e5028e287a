//! Tells the outputs of some commands without running them: a part of an address, the pod's own namespace, or the address of a host.

/// The variable that holds the pod's own namespace.
pub(in crate::suggest) const OWN_NAMESPACE: &str = "OWN_NAMESPACE";

/// The variable, with its operator, whose value a command prints: `${DB%%:*}` for `echo $DB | cut -d: -f1`, or the pod's namespace. `None` for a
/// command that prints something else.
pub(super) fn variable(command: &str) -> Option<String> {
    if command.contains("serviceaccount/namespace") {
        return Some(format!("${{{OWN_NAMESPACE}}}"));
    }
    let (said, cut) = if let Some((cut, said)) = command.split_once("<<<") {
        (said, cut)
    } else {
        let (echo, cut) = command.split_once('|')?;
        (echo.trim().strip_prefix("echo ")?, cut)
    };
    let said = said
        .trim()
        .trim_start_matches("-n ")
        .trim_matches(['"', ' ']);
    let name = said.strip_prefix('$')?.trim_start_matches('{');
    let name = name.trim_end_matches('}');
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    // Every reader of a list splits it at commas, so `tr` changes nothing.
    if cut.trim_start().starts_with("tr ") && cut.contains(',') {
        return Some(format!("${{{name}}}"));
    }
    let cut: String = cut
        .chars()
        .filter(|it| !matches!(it, ' ' | '"' | '\''))
        .collect();
    let operator = match cut.as_str() {
        "cut-d:-f1" | "cut-f1-d:" | "awk-F:{print$1}" => "%%:*",
        "cut-d:-f2" | "cut-f2-d:" | "awk-F:{print$2}" => "#*:",
        _ => return None,
    };
    Some(format!("${{{name}{operator}}}"))
}

/// The host whose addresses a command prints, such as `nslookup db | grep Address`. The entry names the host in place of an address. `None`
/// for a command that prints something else, such as the number of addresses.
pub(super) fn looked_up(command: &str) -> Option<&str> {
    let (look, behind) = command.split_once('|').unwrap_or((command, ""));
    let mut filters = behind.split_whitespace();
    if filters.any(|it| matches!(it, "wc" | "-c" | "-q" | "-qw")) {
        return None;
    }
    let mut words = look.split_whitespace();
    let program = words.next()?.rsplit('/').next()?;
    let is_look = matches!(program, "nslookup" | "getent" | "dig" | "host");
    let others = ["hosts", "ahosts", "ahostsv4", "ahostsv6", "A", "AAAA"];
    if words
        .clone()
        .any(|it| matches!(it, "SRV" | "passwd" | "group" | "services"))
    {
        return None;
    }
    let is_host = |it: &&str| !it.starts_with(['-', '+', '@']) && !others.contains(it);
    let host = words.find(is_host)?.trim_matches(['"', '\'']);
    let is_name =
        |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.' | '_' | '$' | '{' | '}');
    let is_address = is_look && !host.is_empty();
    (is_address && host.chars().all(|it| is_name(it) || !it.is_ascii())).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_an_address_is_cut_out_of_a_variable() {
        for (command, expected) in [
            ("echo $ADDR | cut -d: -f1", Some("${ADDR%%:*}")),
            (
                "echo \"${ADDR}\" | awk -F':' '{print $2}'",
                Some("${ADDR#*:}"),
            ),
            (
                "cat /run/secrets/kubernetes.io/serviceaccount/namespace",
                Some("${OWN_NAMESPACE}"),
            ),
            ("tr ',;' ' ' <<< \"$ADDR\"", Some("${ADDR}")),
            ("echo $ADDR | tr ',' ' '", Some("${ADDR}")),
            ("echo $ADDR | base64", None),
            ("echo db | cut -d: -f1", None),
        ] {
            assert_eq!(variable(command).as_deref(), expected, "{command}");
        }
    }

    #[test]
    fn an_address_stands_for_the_name_that_was_looked_up() {
        for (command, expected) in [
            (
                "nslookup -type=a db | grep Address: | awk '{print $2}'",
                Some("db"),
            ),
            ("getent hosts \"$HOST\" | cut -d' ' -f1", Some("$HOST")),
            ("dig +short db.shop.svc A", Some("db.shop.svc")),
            ("nslookup db | grep Name | wc -l", None),
            ("getent passwd", None),
            ("dig +short SRV _x._tcp.db", None),
            ("cat hosts", None),
        ] {
            assert_eq!(looked_up(command), expected, "{command}");
        }
    }
}
