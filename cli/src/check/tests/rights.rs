//! Tests the lines of `check` about the kinds that the controller may follow.

use super::*;

#[test]
fn rights_that_are_missing_are_named() {
    let lines = wrong(|seen| {
        seen.installation.roles = Lookup::Found(vec![json!({"rules": [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]},
            {"apiGroups": ["apps", "example.com"], "resources": ["*"], "verbs": ["*"]},
        ]})]);
    });
    let missing = "Namespace, PersistentVolumeClaim, Pod, Service, CustomResourceDefinition, CronJob, Job, \
                   EndpointSlice, StorageClass";
    let begin = format!(
        "problem  rights: ClusterRole sluice does not let the controller follow {missing}: "
    );
    assert_line(&lines, &begin, "upgrade the release to mend it");
    let named = wrong(|seen| {
        if let Lookup::Found(role) = &mut seen.installation.roles {
            role[0]["rules"][2]["resourceNames"] = json!(["one"]);
        }
    });
    let begin = "problem  rights: ClusterRole sluice does not let the controller follow EndpointSlice, StorageClass: ";
    assert_line(&named, begin, "upgrade the release to mend it");
    let none = wrong(|seen| seen.installation.roles = Lookup::NotFound);
    assert_line(
        &none,
        "problem  rights: there is no ClusterRole sluice",
        "make it again",
    );
}
