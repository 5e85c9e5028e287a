mod properties;

use super::*;
use serde_json::json;

fn find(path: &str, root: &Value) -> String {
    let path = match Path::parse(path) {
        Ok(path) => path,
        Err(error) => return format!("refused: {error}"),
    };
    match path.find(root, &mut Effort::new()) {
        Ok(found) => found.into_iter().cloned().collect::<Value>().to_string(),
        Err(error) => format!("error: {error}"),
    }
}

fn shop() -> Value {
    json!({
        "book": [
            { "title": "one", "price": 5, "tags": ["a", "b"] },
            { "title": "two", "price": 7.5, "isbn": null },
            { "title": "three", "price": 9, "sold": true },
        ],
        "labels": { "k8s.io/name": "x", "a": { "b": 1 }, "web/html": 15, "k8s-app": 20 },
        "empty": [],
        "none": null,
        "text": "ab",
    })
}

#[test]
fn paths_reach_what_they_name() {
    for (path, expected) in [
        ("", "[{\"book\""),
        ("@", "[{\"book\""),
        ("$", "[{\"book\""),
        (".text", r#"["ab"]"#),
        (" .labels .a .b ", "[1]"),
        ("@.labels@.a$.b", "[1]"),
        (".none", "[null]"),
        (r".labels.k8s\.io/name", r#"["x"]"#),
        (".labels.web/html", "[15]"),
        (".labels.k8s-app", "[20]"),
        ("['labels']['a']", r#"[{"b":1}]"#),
        ("['labels.a.b']", "[1]"),
        (r"['labels.k8s\.io/name']", r#"["x"]"#),
        (".book[0].title", r#"["one"]"#),
        (".book[].title", r#"["one"]"#),
        (".book[-1].title", r#"["three"]"#),
        (".book[*].title", r#"["one","two","three"]"#),
        (".book[:].title", r#"["one","two","three"]"#),
        (".book[1:].title", r#"["two","three"]"#),
        (".book[:-1].title", r#"["one","two"]"#),
        (".book[::2].title", r#"["one","three"]"#),
        (".book[0,2].title", r#"["one","three"]"#),
        (".book[0]['title', 'price']", r#"["one",5]"#),
        (".labels.a.*", "[1]"),
        (".text.*", "[]"),
        (".empty[*].x", "[]"),
        (".empty[*]", "[]"),
        (".none[0]", "[]"),
        ("..price", "[5,7.5,9]"),
        ("...price", "[5,7.5,9]"),
        (".labels..b", "[1]"),
        (".labels.a..", r#"[{"b":1}]"#),
        (".text..", r#"["ab"]"#),
    ] {
        let found = find(path, &shop());
        assert!(found.starts_with(expected), "{path}: {found}");
    }
}

#[test]
fn filters_compare_like_with_like() {
    for (path, expected) in [
        (r#".book[?(@.title=="two")].price"#, "[7.5]"),
        (".book[?(.title == 'two')].price", "[7.5]"),
        (r#".book[?("two"==@.title)].price"#, "[7.5]"),
        (r#".book[?(@.title>"two")].price"#, "[]"),
        (r#".book[?(@.title!="t)o")].price"#, "[5,7.5,9]"),
        (r#".book[?(@.title!="t\"o")].price"#, "[5,7.5,9]"),
        (".book[?(@.tags)].title", r#"["one"]"#),
        (".book[?(@.isbn)].title", r#"["two"]"#),
        (".book[?(@.sold==true)].title", r#"["three"]"#),
        (".book[?(@..sold==true)].title", "error: sold"),
        (".book[?(@.tags[5])].title", "[]"),
        (".book[0].tags[?(@!='a')]", r#"["b"]"#),
        (".empty[?(@.x==1)]", "[]"),
        (".book[?(@.sold==true)]", "error: sold is not there"),
        (
            ".book[?(@.price==5)]",
            "error: a filter compares a float with an integer",
        ),
        (
            ".book[?(@.price<6.5)]",
            "error: a filter compares an integer with a float",
        ),
        (".book[?(@.isbn==1)]", "error: isbn is not there"),
        (
            ".book[?(@.title==1)]",
            "error: a filter compares a text with an integer",
        ),
        (".book[?(@..x==1)]", "error: x is not there"),
        (
            ".book[0:1][?(@.x)]",
            "error: an index or a filter met a map, not a list",
        ),
        (
            ".none[?(@.x)]",
            "error: an index or a filter met null, not a list",
        ),
    ] {
        let mut shop = shop();
        // A missing key in a comparison is an error, so only where that is the point may one miss it.
        if !expected.starts_with("error") {
            for book in shop["book"].as_array_mut().unwrap() {
                if path.contains("sold==") && book.get("sold").is_none() {
                    book["sold"] = json!(false);
                }
            }
        }
        let found = find(path, &shop);
        assert!(found.starts_with(expected), "{path}: {found}");
    }
}

#[test]
fn what_is_not_there_is_an_error() {
    for (path, expected) in [
        (".nope", "error: nope is not there"),
        (".text.nope", "error: nope is not there"),
        (".none.nope", "error: nope is not there"),
        ("..nope", "error: nope is not there"),
        (".book[*].nope", "error: nope is not there"),
        (".book[*].sold", "[true]"),
        (
            ".book[3]",
            "error: index 3 is out of the range of a list of 3",
        ),
        (
            ".book[-4]",
            "error: index -1 is out of the range of a list of 3",
        ),
        (
            ".book[0:4]",
            "error: index 3 is out of the range of a list of 3",
        ),
        (".book[2:1]", "error: a slice begins at 2, after its end 1"),
        (".book[9:9]", "[]"),
        (
            ".empty[0]",
            "error: index 0 is out of the range of a list of 0",
        ),
        (
            ".labels[0]",
            "error: an index or a filter met a map, not a list",
        ),
        (
            ".text[*]",
            "error: an index or a filter met a text, not a list",
        ),
        (".book[-2147483648]", "error: index -2147483645 is out"),
        (".book[2147483647]", "error: index 2147483647 is out"),
    ] {
        let found = find(path, &shop());
        assert!(found.starts_with(expected), "{path}: {found}");
    }
}

#[test]
fn a_refusal_names_the_place() {
    for (path, expected) in [
        (
            "status",
            r#"character 1 of the path: unexpected 's'; a step begins with "." or "[""#,
        ),
        (
            ".a^b.é^c d",
            r#"character 10 of the path: unexpected 'd'; a step begins with "." or "[""#,
        ),
        (".a.", "character 4 of the path: a name is missing"),
        (".a[", "character 3 of the path: \"[\" is not closed"),
        (".a[?(@.b", "character 3 of the path: \"[\" is not closed"),
        (".a[?(@.b)", "character 3 of the path: \"[\" is not closed"),
        (
            ".a[b]",
            r#"character 4 of the path: "b" is not an index, a slice or a name in single quotes"#,
        ),
        (
            ".a[\"b\"]",
            r#"character 4 of the path: "\"b\"" is not an index, a slice or a name in single quotes"#,
        ),
        (
            ".a[+1]",
            r#"character 4 of the path: "+1" is not an index, a slice or a name in single quotes"#,
        ),
        (
            ".a[-]",
            r#"character 4 of the path: "-" is not an index, a slice or a name in single quotes"#,
        ),
        (
            ".a[1:2:3:4]",
            r#"character 4 of the path: "1:2:3:4" is not an index, a slice or a name in single quotes"#,
        ),
        (
            ".a[0:2:0]",
            "character 4 of the path: the step of a slice is above 0",
        ),
        (
            ".a[0:2:-1]",
            "character 4 of the path: the step of a slice is above 0",
        ),
        ("....a", "character 3 of the path: two \"..\" in a row"),
        (
            "..*",
            r#"character 3 of the path: unexpected '*'; a step begins with "." or "[""#,
        ),
        (
            ".a[?(@.b=1)]",
            r#"character 9 of the path: "=" is not an operator; a filter has one of == != < <= > >="#,
        ),
        (
            ".a[?(@.b<>1)]",
            r#"character 9 of the path: "<>" is not an operator; a filter has one of == != < <= > >="#,
        ),
        (
            ".a[?(@.b==)]",
            r#"character 11 of the path: "" is neither a path nor a number, a text in quotes, true or false"#,
        ),
        (
            ".a[?(@.b==c)]",
            r#"character 11 of the path: "c" is neither a path nor a number, a text in quotes, true or false"#,
        ),
        (
            ".a[?(@.b==1.2.3)]",
            r#"character 11 of the path: "1.2.3" is neither a path nor a number, a text in quotes, true or false"#,
        ),
        (
            r#".a[?(@.b=="c" && @.d=="e")]"#,
            r#"character 11 of the path: "\"c\" && @.d==\"e\"" is neither a path nor a number, a text in quotes, true or false"#,
        ),
        (
            ".a[?(@.b[?(@.c==1)])]",
            "character 9 of the path: \"[\" is not closed",
        ),
    ] {
        let found = find(path, &shop());
        assert!(
            found.starts_with(&format!("refused: {expected}")),
            "{path}: {found}"
        );
    }
}

#[test]
fn effort_ends() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!({ "a": deep });
    }
    let wide = json!({ "a": vec![Value::Null; 1000] });
    let unions = "['a','a']".repeat(60);
    let empty = format!(".a[{}0]", "0:0,".repeat(2000));
    for (path, root) in [
        (unions.as_str(), &deep),
        ("..a..a..a..a..a..a", &deep),
        (&format!("..{}", "[?(@..a)]..".repeat(700)), &wide),
    ] {
        let found = find(path, root);
        assert!(found.starts_with("error: "), "{found}");
    }
    assert!(!find(&empty, &wide).is_empty());
    let most = Effort::MOST;
    let expected = format!("error: the path reaches more than {most} values");
    assert_eq!(find(&unions, &deep), expected);
}

#[test]
fn what_nests_is_printed_as_go_writes_json() {
    let of = |value: Value| print(&[&value]).unwrap();
    for (value, expected) in [
        (json!([100.0, 0.5, -2.25, 0.0]), "[100,0.5,-2.25,0]"),
        (
            json!([1e20, 1e21, -1e22, 1.5e300]),
            "[100000000000000000000,1e+21,-1e+22,1.5e+300]",
        ),
        (
            json!([0.000_001, 0.000_000_1, -1.5e-9]),
            "[0.000001,1e-7,-1.5e-9]",
        ),
        (
            json!(["<a href=\"x\">&\u{2028}é\n"]),
            "[\"\\u003ca href=\\\"x\\\"\\u003e\\u0026\\u2028é\\n\"]",
        ),
        (json!({"<": 1}), "{\"\\u003c\":1}"),
        (json!("<&>"), "<&>"),
    ] {
        assert_eq!(of(value), expected);
    }
}
