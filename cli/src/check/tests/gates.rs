//! Tests the lines of `check` about gates that trust no certificate any more.

use super::*;

#[test]
fn pods_that_cannot_be_told_anything_are_named() {
    let told = |uid: &str| json!({"involvedObject": {"kind": "Pod", "uid": uid}});
    let named = wrong(|seen| {
        let mut opened = pending("opened");
        opened["status"]["initContainerStatuses"][0]["state"] =
            json!({"terminated": {"exitCode": 0}});
        seen.pending = Lookup::Found(vec![pending("web"), pending("api"), pending("new"), opened]);
        let events = ["web", "api", "opened", "gone"].map(told);
        seen.stranded = Lookup::Found(events.to_vec());
    });
    assert_line(
        &named,
        "problem  gates: trusting no certificate of sluice any more, these pods wait for ever: shop/api, shop/web; delete them",
        "made again by hand)",
    );
    let unseen = wrong(|seen| seen.stranded = Lookup::Unavailable(Unavailable::Forbidden));
    assert_line(
        &unseen,
        "warning  gates: events could not be looked at",
        "administrator",
    );
}
