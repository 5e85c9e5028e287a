//! A path to a field: the names that lead to it.

use serde_json::Value;

/// The value at a path; `None` where it is missing or something on the way is not a map. Not `Value::pointer`, which copies each name to
/// unescape it: that would be an eighth of an admission.
pub fn get<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, field| value.get(field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_leads_where_a_pointer_of_the_same_names_does() {
        let value = json!({"a": {"b": {"c": 1, "": 2}, "n": null}, "list": [{"a": 1}]});
        for pointer in [
            "", "/a", "/a/b/c", "/a/b/", "/a/n", "/a/n/b", "/x", "/a/b/c/d", "/list", "/list/a",
        ] {
            let path: Vec<&str> = pointer.split('/').skip(1).collect();
            assert_eq!(get(&value, &path), value.pointer(pointer), "{pointer}");
        }
    }
}
