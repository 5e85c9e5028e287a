//! Tests the graph of workloads that never start, and of one with an unreadable list.

use super::*;

fn cycle() -> String {
    [
        workload("Deployment", "a", "r", "sluice.dev/depends-on: deploymnt/b"),
        workload("Deployment", "b", "r", "sluice.dev/depends-on: group/g"),
        workload(
            "Deployment",
            "c",
            "r",
            "sluice.dev/group: g, sluice.dev/depends-on: deployment/b",
        ),
        workload(
            "Deployment",
            "d",
            "r",
            "sluice.dev/depends-on: '[{any: [deploy/c], optional: true}]'",
        ),
        workload("Deployment", "e", "r", "sluice.dev/depends-on: deploy/c"),
    ]
    .concat()
}

#[test]
fn a_misspelt_key_alone_asks_for_no_gate() {
    let objects = read(&workload(
        "Deployment",
        "a",
        "r",
        "sluice.dev/depend-on: job/x",
    ));
    let told = of_manifests(&objects, None);
    assert_eq!(
        plain(&told.drawing),
        "STEP  OBJECT        WAITS FOR\n1     Deployment/a\n"
    );
    assert_eq!(
        told.warnings,
        [
            "Deployment/a asks for no gate, so its pods start without waiting: sluice.dev/depend-on: unknown annotation; did you mean \
          \"sluice.dev/depends-on\"?"
        ]
    );
}

#[test]
fn cycles_are_marked_and_named() {
    let told = offline(&cycle(), None);
    let expected = "\
STEP   OBJECT        WAITS FOR
1      Deployment/d  any of (Deployment/c)
never  Deployment/a  a list that can be read
cycle  Deployment/b  group/g
cycle  Deployment/c  Deployment/b
never  Deployment/e  Deployment/c

These wait for each other and never start: Deployment b -> Deployment c (group/g) -> Deployment b; take one entry out.
";
    assert_eq!(plain(&told), expected);
    let dot = dot::dot(&told.model);
    for line in [
        "  \"Deployment/b\" [label=\"Deployment/b\", color=red];\n",
        "  \"Deployment/b\" -> \"Deployment/c\" [label=\"group/g\", color=red];\n",
        "  \"Deployment/d\" -> \"Deployment/c\" [style=dashed];\n",
    ] {
        assert!(dot.contains(line), "{line}{dot}");
    }
    let mermaid = mermaid::mermaid(&told.model);
    for line in [
        "  n2[\"Deployment/b\"]:::cycle\n",
        "  n2 -->|\"group/g\"| n3\n",
        "  n0 -.-> n3\n",
        "  linkStyle 1,2 stroke:#f00\n",
        "  classDef cycle stroke:#f00,stroke-width:2px\n",
    ] {
        assert!(mermaid.contains(line), "{line}{mermaid}");
    }
}

#[test]
fn why_a_member_of_a_cycle_is_not_ready_is_one_word() {
    let mut told = offline(&cycle(), None);
    for node in &mut told.model.nodes {
        node.health = Some(model::Health {
            ready: false,
            status: "InProgress".to_owned(),
            reason: "InProgress".to_owned(),
            message: "all the way round".to_owned(),
        });
    }
    let told = plain(&told);
    assert!(told.contains("group/g                  Cycle\n"), "{told}");
    assert!(
        told.contains("Deployment/c             all the way round\n"),
        "{told}"
    );
}
