//! Tests the line of `check` about the pod with image volumes that is tried as a dry run.

use super::*;

#[test]
fn a_rule_that_refuses_image_volumes_is_told_with_the_way_out() {
    let tried = |pulls: PullTrial| wrong(|seen| seen.tried.pulls = pulls);
    let refused = |by_default| PullTrial::Refused {
        why: "ValidatingAdmissionPolicy 'volumes' denied request: no images".to_owned(),
        by_default,
    };
    assert_line(
        &tried(refused(false)),
        "warning  prefetch: a rule of the cluster refuses the image volumes of a pod with sluice.dev/prefetch, tried in namespace \
         default (a dry run): ValidatingAdmissionPolicy 'volumes' denied",
        "no images; have it admit volumes of the type image before you use that annotation",
    );
    assert_line(
        &tried(refused(true)),
        "problem  prefetch: a rule of the cluster refuses the image volumes that every gated pod gets",
        "no images; have it admit volumes of the type image, or set the chart's value prefetch.default to false",
    );
    for fine in [PullTrial::Unsupported, PullTrial::Untried] {
        assert_eq!(tried(fine), Vec::<String>::new());
    }
}
