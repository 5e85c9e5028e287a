use crate::manifest::{Entries, Places, lines};

/// The text of a file from the place that is found for the word `of` in the annotation that `scalar` spells, up to the end of the line.
fn written(scalar: &str, of: &str) -> String {
    let text =
        format!("# one\n---\nb: 1\nmetadata:\n  annotations:\n    k/y: {scalar}\n    z: 1\n");
    let entry = Entries::new(text.as_bytes()).next().unwrap().unwrap();
    let says = entry.object["metadata"]["annotations"]["k/y"].as_str();
    let says = says.unwrap();
    let before = &says[..says.find(of).unwrap()];
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.rsplit('\n').next().unwrap().chars().count();
    let starts = lines(&text);
    let places = Places::new(&text, &starts, entry.origin.at);
    let place = places
        .within(&entry.origin, "/metadata/annotations/k~1y", line, column)
        .unwrap();
    let line = text.lines().nth(place.line - 1).unwrap();
    line.chars().skip(place.column - 1).collect()
}

#[test]
fn every_style_is_followed() {
    for (scalar, of, expected) in [
        ("job/a, jbo/b", "jbo", "jbo/b"),
        ("job/a,\n      é/x, jbo/b # c", "jbo", "jbo/b # c"),
        ("job/a,\n\n\n      jbo/b", "jbo", "jbo/b"),
        ("'it''s, jbo/b'", "jbo", "jbo/b'"),
        ("'job/a,  \n\n      jbo/b'", "jbo", "jbo/b'"),
        (r#""\x41\u00e9\"\n, jbo/b""#, "jbo", "jbo/b\""),
        ("\"job/a,\\\n      jbo/b\"", "jbo", "jbo/b\""),
        ("\"job/a,\\\n      \\  jbo/b\"", "jbo", "jbo/b\""),
        ("|\n      job/a\n\n        jbo/b\n", "jbo", "jbo/b"),
        ("|1\n     job/a\n     jbo/b", "jbo", "jbo/b"),
        ("|-\n\n      job/a\n      jbo/b", "jbo", "jbo/b"),
        (
            ">\n      job/a,\n      job/b,\n\n      jbo/c\n",
            "jbo",
            "jbo/c",
        ),
        (
            ">-  # folded\n      job/a,\n        more\n      jbo/c\n",
            "jbo",
            "jbo/c",
        ),
    ] {
        assert_eq!(written(scalar, of), expected, "{scalar}");
    }
}

#[test]
fn json_and_lists_have_places() {
    let text = "{\"a\": 1} {\"kind\": \"List\", \"items\": [{\"a\": {}}, {\"b\":\n  {\"c\": \"x\\ty\"}}]}\n";
    let entries: Vec<_> = Entries::new(text.as_bytes()).map(Result::unwrap).collect();
    let last = &entries[2];
    let starts = lines(text);
    let places = Places::new(text, &starts, last.origin.at);
    let place = |found: Option<super::super::Position>| found.map(|it| (it.line, it.column));
    assert_eq!(place(places.key(&last.origin, "/b/c")), Some((2, 4)));
    assert_eq!(
        place(places.within(&last.origin, "/b/c", 1, 3)),
        Some((2, 13))
    );
    assert_eq!(place(places.key(&last.origin, "")), Some((1, 48)));
    let absent = places.key(&last.origin, "/b/d/e");
    assert_eq!(
        absent,
        places.key(&last.origin, "/b"),
        "what it would be in"
    );
}
