//! The registry's own message, taken out of the kubelet's.

/// The registry's own words (`not found`) in the kubelet's `message` on an image: the kubelet and the runtime wrap them in sentences that quote
/// the image. Empty where they do not pass them on.
pub(super) fn its_word(message: &str) -> &str {
    let wrapped = ["Back-off pulling image ", "Failed to pull image "];
    let rest = match message.rsplit_once("\": ") {
        Some((_, rest)) => rest,
        None if wrapped.iter().any(|it| message.starts_with(it)) => "",
        None => message,
    };
    let rest = rest.rsplit_once("desc = ").map_or(rest, |(_, rest)| rest);
    let rest = rest.strip_prefix("ErrImagePull: ").unwrap_or(rest);
    match rest.split_once(": ") {
        // Drops the name of the image before the registry's words.
        Some((image, word)) if image.contains('/') && !image.contains(' ') => word,
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::its_word;

    #[test]
    fn the_word_of_the_registry_is_what_is_left_of_its_wrappings() {
        let containerd = "failed to pull and unpack image \"docker.io/library/postgres:17.2\": failed to resolve reference \
                          \"docker.io/library/postgres:17.2\": ";
        let reference = "docker.io/library/postgres:17.2: not found";
        let denied = "pull access denied, repository does not exist or may require authorization: server message: \
                      insufficient_scope: authorization failed";
        let cri_o = "reading manifest v1 in quay.io/foo/bar: unauthorized: access to the requested resource is not authorized";
        for (message, word) in [
            (
                format!("rpc error: code = NotFound desc = {containerd}{reference}"),
                "not found",
            ),
            (
                format!(
                    "Back-off pulling image \"postgres:17.2\": ErrImagePull: rpc error: code = NotFound desc = {containerd}{reference}"
                ),
                "not found",
            ),
            (format!("{containerd}{denied}"), denied),
            (
                format!(
                    "{containerd}failed to do request: Head \"https://r.invalid/v2/x?token=secret\": dial tcp: lookup r.invalid: no such host"
                ),
                "dial tcp: lookup r.invalid: no such host",
            ),
            (
                format!("Back-off pulling image \"quay.io/foo/bar:v1\": ErrImagePull: {cri_o}"),
                cri_o,
            ),
            (format!("rpc error: code = Unknown desc = {cri_o}"), cri_o),
            ("Back-off pulling image \"postgres:17.2\"".to_owned(), ""),
            (
                "Container image \"a:1\" is not present with pull policy of Never".to_owned(),
                "Container image \"a:1\" is not present with pull policy of Never",
            ),
            (String::new(), ""),
        ] {
            assert_eq!(its_word(&message), word, "{message}");
        }
    }
}
