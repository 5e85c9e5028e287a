//! The page: one document with its style and its program in it, which loads everything else from this process alone.

const HTML: &str = include_str!("page/page.html");

/// The style and the programs that are put into the document: the comment that stands for each, and its text.
const PARTS: [(&str, &str); 10] = [
    ("/* page.css */", include_str!("page/page.css")),
    ("/* layout.js */", include_str!("page/layout.js")),
    ("/* state.js */", include_str!("page/state.js")),
    ("/* graph.js */", include_str!("page/graph.js")),
    ("/* map.js */", include_str!("page/map.js")),
    ("/* copy.js */", include_str!("page/copy.js")),
    ("/* news.js */", include_str!("page/news.js")),
    ("/* details.js */", include_str!("page/details.js")),
    ("/* timeline.js */", include_str!("page/timeline.js")),
    ("/* main.js */", include_str!("page/main.js")),
];

/// The whole document of the page; its style and its program carry the nonce, without which the browser would not run them.
pub(super) fn page(nonce: &str) -> String {
    let whole = PARTS.iter().fold(HTML.to_owned(), |page, (mark, text)| {
        page.replacen(mark, text, 1)
    });
    whole.replace("{nonce}", nonce)
}

/// The Content-Security-Policy of the document: run and show only parts with the nonce, and ask only this process.
pub(super) fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole_and_asks_nobody_else() {
        let page = page("abc");
        for (mark, _) in PARTS {
            assert!(HTML.contains(mark), "{mark}");
            assert!(!page.contains(mark), "{mark}");
        }
        assert!(!page.contains("{nonce}"));
        for begin in ["<script", "<style"] {
            let all = page.matches(begin).count();
            let with = page.matches(&format!("{begin} nonce=\"abc\"")).count();
            assert_eq!((all, with), (1, 1), "{begin}");
        }
        // A part that the policy refuses would be missing without a word.
        for refused in [
            "http://",
            "https://",
            " style=\"",
            " onclick=",
            "innerHTML",
            "@import",
        ] {
            let found = page
                .replace("http://www.w3.org/2000/svg", "")
                .contains(refused);
            assert!(!found, "{refused}");
        }
    }
}
