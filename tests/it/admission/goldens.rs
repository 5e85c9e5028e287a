//! Compares admission with `fixtures/admission/<case>`: `object.yaml` is an object that is created, `request.yaml` the `request` of a review.
//! `patch.json` holds the operations with their values; `reason.txt` the outcome, the refusal and the warnings. `UPDATE_FIXTURES=1` writes both anew;
//! read the difference like code.

use super::laws::intent::{intended, qos, without_additions};
use super::{UID, answer, applied, operations, review, running};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/admission");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(cases.len() >= 20, "the fixtures are gone");
    cases
}

/// Returns the object of each case that is created, with the name of its folder. A case with a whole request is left out.
pub(super) fn objects() -> Vec<(String, Value)> {
    let object = |case: PathBuf| {
        let text = fs::read_to_string(case.join("object.yaml")).ok()?;
        let name = case.file_name()?.to_string_lossy().into_owned();
        Some((name, serde_saphyr::from_str(&text).unwrap()))
    };
    cases().into_iter().filter_map(object).collect()
}

fn request(case: &Path) -> Value {
    let yaml = |name: &str| {
        let text = fs::read_to_string(case.join(name)).ok()?;
        Some(serde_saphyr::from_str::<Value>(&text).unwrap())
    };
    if let Some(object) = yaml("object.yaml") {
        return review("CREATE", &object, &Value::Null);
    }
    let written = yaml("request.yaml").unwrap();
    let mut review = review(
        written["operation"].as_str().unwrap(),
        &written["object"],
        &written["oldObject"],
    );
    review["request"]["uid"] = json!(UID);
    review
}

/// Fails unless the file has the text `actual`, or is missing where that is `None`. With `UPDATE_FIXTURES`, writes or removes the file instead.
fn compare(path: &Path, actual: Option<String>) {
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        match actual {
            Some(text) => fs::write(path, text).unwrap(),
            None => drop(fs::remove_file(path)),
        }
        return;
    }
    let expected = fs::read_to_string(path).ok();
    assert_eq!(actual, expected, "{}", path.display());
}

/// Returns the outcome of a response; where it refuses, its code, reason and message; and its warnings: each on a line.
fn reason(response: &Value) -> String {
    let mut lines = vec![
        response["auditAnnotations"]["outcome"]
            .as_str()
            .unwrap()
            .to_owned(),
    ];
    if let Some(status) = response.get("status") {
        lines.push(format!(
            "{} {}",
            status["code"],
            status["reason"].as_str().unwrap()
        ));
        lines.push(status["message"].as_str().unwrap().to_owned());
    }
    for warning in response["warnings"].as_array().into_iter().flatten() {
        lines.push(format!("warning: {}", warning.as_str().unwrap()));
    }
    lines.join("\n") + "\n"
}

#[tokio::test]
async fn goldens() {
    for case in cases() {
        let review = request(&case);
        let response = answer(&running(), &review).await;
        let patch = response.get("patch").is_some();
        let patch_text =
            patch.then(|| serde_json::to_string_pretty(&operations(&response)).unwrap() + "\n");
        compare(&case.join("patch.json"), patch_text);
        compare(
            &case.join("reason.txt"),
            (!patch).then(|| reason(&response)),
        );

        let object = &review["request"]["object"];
        let result = applied(object, &response);
        if !patch {
            assert_eq!(&result, object);
            continue;
        }
        if object["kind"] == "Pod" {
            assert_eq!(result, intended(object), "{}", case.display());
            assert_eq!(
                without_additions(&result),
                without_additions(object),
                "{}",
                case.display()
            );
            assert_eq!(qos(&result), qos(object), "{}", case.display());
        }
        let mut again = review.clone();
        again["request"]["object"] = result;
        let response = answer(&running(), &again).await;
        assert!(
            response.get("patch").is_none(),
            "a second call changes {}",
            case.display()
        );
    }
}
