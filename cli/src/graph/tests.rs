mod cycles;
mod edges;
mod kinds;
mod node_rules;

use super::*;
use crate::manifest::Entries;
use crate::offline::Manifest;
use objects::place;
use rules::health::Rules;
use rules::verdict::Policy;
use serde_json::{Value, json};

fn read(manifest: &str) -> Vec<Object> {
    let entries = Entries::new(manifest.as_bytes()).map(Result::unwrap);
    entries
        .map(|entry| place("", entry.document, entry.object))
        .collect()
}

fn plain(told: &Drawing) -> String {
    text::text(told, Style::PLAIN, None)
}

fn offline(manifest: &str, release: Option<&str>) -> Drawing {
    of_manifests(&read(manifest), release).drawing
}

/// A YAML document with a workload of a release, in no namespace.
fn workload(kind: &str, name: &str, release: &str, annotations: &str) -> String {
    let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    format!(
        "---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, labels: {{app.kubernetes.io/instance: {release}}}, \
         annotations: {{{annotations}}}}}\nspec: {{template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: []}}}}}}\n"
    )
}

fn service(name: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{selector: {{app: {name}}}}}\n"
    )
}

fn shop() -> String {
    [
        workload("Deployment", "web", "shop", "sluice.dev/weight: '1'"),
        workload(
            "Job",
            "migrate",
            "shop",
            "sluice.dev/depends-on: 'svc/db, secret/password'",
        ),
        workload("StatefulSet", "db", "shop", ""),
        service("db"),
        service("unused"),
    ]
    .concat()
}

#[test]
fn a_table_tells_the_order_of_start() {
    let expected = "\
STEP  OBJECT           WAVE  WAITS FOR
1     Secret/password        (it is not there)
1     StatefulSet/db   0
2     Service/db             pods of StatefulSet/db
3     Job/migrate      0     Service/db, Secret/password
4     Deployment/web   1     every weight below 1
";
    assert_eq!(plain(&offline(&shop(), None)), expected);
}

#[test]
fn a_row_is_wrapped_at_the_width_of_the_terminal() {
    let list = "sluice.dev/depends-on: 'svc/db, secret/password, configmap/settings'";
    let manifest = [
        workload("Job", "migrate", "shop", list),
        workload("StatefulSet", "db", "shop", ""),
        service("db"),
    ]
    .concat();
    let drawing = offline(&manifest, None);
    let wrapped = |width| text::text(&drawing, Style::PLAIN, width);
    let plain = "\
STEP  OBJECT              WAITS FOR
1     ConfigMap/settings  (it is not there)
1     Secret/password     (it is not there)
1     StatefulSet/db
2     Service/db          pods of StatefulSet/db
3     Job/migrate         Service/db, Secret/password, ConfigMap/settings
";
    assert_eq!([wrapped(None), wrapped(Some(73))], [plain, plain]);
    let below_itself = "\
STEP  OBJECT              WAITS FOR
1     ConfigMap/settings  (it is not there)
1     Secret/password     (it is not there)
1     StatefulSet/db
2     Service/db          pods of StatefulSet/db
3     Job/migrate         Service/db, Secret/password,
                          ConfigMap/settings
";
    assert_eq!(wrapped(Some(60)), below_itself);
    let as_a_whole = "\
STEP  OBJECT              WAITS FOR
1     ConfigMap/settings  (it is not
      there)
1     Secret/password     (it is not
      there)
1     StatefulSet/db
2     Service/db          pods of
      StatefulSet/db
3     Job/migrate         Service/db,
      Secret/password,
      ConfigMap/settings
";
    assert_eq!(wrapped(Some(40)), as_a_whole);
}

#[test]
fn a_release_is_told_with_what_it_waits_for() {
    let manifest = [
        workload(
            "Deployment",
            "a",
            "one",
            "sluice.dev/depends-on: deployment/b",
        ),
        workload(
            "Deployment",
            "b",
            "two",
            "sluice.dev/depends-on: deployment/c",
        ),
        workload("Deployment", "c", "two", ""),
        workload("Deployment", "d", "two", ""),
    ]
    .concat();
    let expected = "\
STEP  OBJECT        RELEASE  WAITS FOR
1     Deployment/c  two
2     Deployment/b  two      Deployment/c
3     Deployment/a  one      Deployment/b
";
    assert_eq!(plain(&offline(&manifest, Some("one"))), expected);
    let none = of_manifests(&read(&manifest), Some("three"));
    let refusal = none
        .is_filled(Some("three"), "these manifests")
        .unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "no workload of release \"three\" in these manifests; the releases there are one, two"
    );
}

#[test]
fn names_cannot_break_out_of_a_drawing() {
    let told = offline(
        "{apiVersion: v1, kind: Pod, metadata: {name: 'a\"]; evil --> \\b\n<b>'}}",
        None,
    );
    let dot = dot::dot(&told.model);
    assert!(
        dot.contains("label=\"Pod/a\\\"]; evil --> \\\\b <b>\""),
        "{dot}"
    );
    let mermaid = mermaid::mermaid(&told.model);
    assert!(
        mermaid.contains("n0[\"Pod/a#34;]; evil --#62; #92;b #60;b#62;\"]"),
        "{mermaid}"
    );
}

/// The time at so many seconds after 12:00 on 2026-01-01, as Kubernetes writes it.
fn at(seconds: u8) -> String {
    format!("2026-01-01T12:00:{seconds:02}Z")
}

fn owned(kind: &str, name: &str, owner: (&str, &str)) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"namespace": "shop", "name": name,
        "ownerReferences": [{"controller": true, "kind": owner.0, "name": owner.1, "apiVersion": "apps/v1"}]}})
}

/// A pod that was made at the second `made`, whose gate waited from then until `opened`, and that was ready at `ready`; without the last two it
/// has no status of its gate, and is not ready.
fn pod(owner: (&str, &str), name: &str, made: u8, opened: Option<u8>, ready: Option<u8>) -> Value {
    let mut pod = owned("Pod", name, owner);
    pod["metadata"]["creationTimestamp"] = at(made).into();
    pod["metadata"]["labels"] = json!({"app": owner.1.split('-').next()});
    if let Some(ready) = ready {
        let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": at(ready)});
        pod["status"]["conditions"] = json!([ready]);
    }
    if let Some(opened) = opened {
        let ended = json!({"startedAt": at(made), "finishedAt": at(opened), "exitCode": 0});
        let gate = json!({"name": "sluice-gate", "state": {"terminated": ended}});
        pod["status"]["initContainerStatuses"] = json!([gate]);
    }
    pod
}

/// The graph of the shop in a cluster: its Job has run, its Deployment `web` has a ReplicaSet, and `more` are further objects.
fn cluster_of(more: &[Value]) -> Drawing {
    let mut values: Vec<Value> = read(&shop()).into_iter().map(|it| it.value).collect();
    for value in &mut values {
        value["metadata"]["namespace"] = "shop".into();
        if value["kind"] == "Job" {
            value["status"] = json!({"startTime": at(0), "completionTime": at(18)});
        }
    }
    values.push(owned("ReplicaSet", "web-1", ("Deployment", "web")));
    values[5]["apiVersion"] = "apps/v1".into();
    values.extend_from_slice(more);
    told(&values)
}

fn told(values: &[Value]) -> Drawing {
    told_by(values, &Policy::of_the_chart())
}

fn told_by(values: &[Value], policy: &Policy) -> Drawing {
    let rules = Rules::default();
    let world = Manifest::new(values.iter(), &rules);
    let now = at(59).parse().unwrap();
    let node_rules = &policy.node_rules;
    let seen = cluster::see(&world, "shop", &[], (node_rules, &world));
    let graph = Graph::new(&seen.objects).under(node_rules, &world);
    let judges = Judges {
        world: &world,
        policy,
        workloads: &[],
        withheld: &|_| None,
        now,
    };
    let shown = build::shown(&graph, None);
    let findings = Findings::of(&graph, &shown, &seen, &judges);
    let mut model = Model::new(&graph, &shown, &findings);
    let times = times::of(&seen, &graph, &model, &world, now);
    times.explain(&mut model);
    times.mark_waits(&mut model);
    Drawing {
        api_version: API_VERSION,
        critical_path: critical::path(&model, &times),
        root_causes: times.held_up("shop"),
        times: Some(times::lived(&model, &times.spans)),
        gates: Some(times.gates),
        model,
    }
}

#[test]
fn the_critical_path_is_the_chain_that_was_waited_for() {
    let told = cluster_of(&[
        pod(("StatefulSet", "db"), "db-0", 0, None, Some(10)),
        pod(("Job", "migrate"), "migrate-x", 1, Some(11), None),
        pod(("ReplicaSet", "web-1"), "web-1-a", 0, Some(19), Some(25)),
        pod(("ReplicaSet", "web-1"), "web-1-b", 0, Some(19), Some(30)),
    ]);
    let text = plain(&told);
    let expected = "
WAITED  POD        OF
19 s    web-1-a    Deployment/web
19 s    web-1-b    Deployment/web
10 s    migrate-x  Job/migrate

30 s until Deployment/web was ready, the last one:
     10 s  StatefulSet/db  ready at 2026-01-01T12:00:10Z
      8 s  Job/migrate     ready at 2026-01-01T12:00:18Z
     12 s  Deployment/web  ready at 2026-01-01T12:00:30Z
";
    let (table, rest) = text.split_once("\n\n").unwrap();
    assert_eq!(format!("\n{rest}"), expected);
    assert!(
        table.starts_with("STEP  OBJECT           WAVE  STATUS"),
        "{table}"
    );
    assert!(
        table.contains("1     Secret/password        NotFound"),
        "{table}"
    );
}

#[test]
fn a_service_is_ready_with_the_first_workload_behind_it() {
    let mut second = read(&workload("StatefulSet", "aged", "shop", ""))[0]
        .value
        .clone();
    second["metadata"]["namespace"] = "shop".into();
    second["spec"]["template"]["metadata"]["labels"]["app"] = "db".into();
    let mut late = pod(("StatefulSet", "aged"), "aged-0", 0, None, None);
    late["metadata"]["labels"]["app"] = "db".into();
    let told = cluster_of(&[
        second,
        late,
        pod(("StatefulSet", "db"), "db-0", 0, None, Some(10)),
        pod(("Job", "migrate"), "migrate-x", 1, Some(11), None),
    ]);
    let path = told.critical_path.unwrap();
    let names: Vec<_> = path.steps.iter().map(|it| it.object.as_str()).collect();
    assert_eq!(names, ["StatefulSet/db", "Job/migrate"]);
}

#[test]
fn what_was_ready_before_is_not_on_the_path() {
    let told = cluster_of(&[
        pod(("StatefulSet", "db"), "db-0", 0, None, Some(10)),
        pod(("ReplicaSet", "web-1"), "web-1-a", 40, Some(41), Some(45)),
    ]);
    let path = told.critical_path.unwrap();
    let names: Vec<_> = path.steps.iter().map(|it| it.object.as_str()).collect();
    assert_eq!((names, path.seconds), (vec!["Deployment/web"], 5));
    assert!(!path.unfinished);
}

#[test]
fn who_still_waits_is_told() {
    let mut waits = pod(("ReplicaSet", "web-1"), "web-1-a", 20, None, None);
    let gate = json!({"name": "sluice-gate", "state": {"running": {"startedAt": at(21)}}});
    waits["status"]["initContainerStatuses"] = json!([gate]);
    let text = plain(&cluster_of(&[waits]));
    assert!(
        text.contains("38 s    web-1-a  Deployment/web, and still waits\n"),
        "{text}"
    );
    assert!(
        !text.contains("the last one"),
        "nothing that is ready holds it up: {text}"
    );
}

#[test]
fn a_cap_is_on_the_path_where_all_slots_were_taken() {
    let seed = |name: &str, until: u8| {
        let mut object = read(&workload("Job", name, "r", "sluice.dev/parallelism: '1'"))[0]
            .value
            .clone();
        object["metadata"]["namespace"] = "shop".into();
        object["status"] = json!({"startTime": at(0), "completionTime": at(until)});
        object
    };
    let told = told(&[
        seed("a", 10),
        seed("b", 22),
        pod(("Job", "a"), "a-x", 0, Some(1), None),
        pod(("Job", "b"), "b-x", 0, Some(11), None),
    ]);
    let steps = &told.critical_path.as_ref().unwrap().steps;
    let steps: Vec<_> = steps.iter().map(|it| (&*it.object, it.seconds)).collect();
    assert_eq!(steps, [("Job/a", 10), ("Job/b", 12)]);
    let text = plain(&told);
    assert!(text.contains("  one of 1 slots  "), "{text}");
}

#[test]
fn a_drawing_leaves_out_waves_that_others_imply() {
    let wave = |name: &str, weight: u8| {
        workload("Job", name, "r", &format!("sluice.dev/weight: '{weight}'"))
    };
    let drawn = |objects: [String; 3]| {
        let told = offline(&objects.concat(), None);
        let all = told.model.edges.len();
        let drawn: Vec<_> = told.model.edges.iter().filter(|it| it.is_drawn()).collect();
        let name = |edge: &&model::Edge| format!("{} -> {}", edge.from, edge.to);
        (all, drawn.iter().map(name).collect::<Vec<_>>())
    };
    let plain = || workload("Deployment", "web", "r", "");
    let chain = drawn([plain(), wave("b", 1), wave("c", 2)]);
    assert_eq!(
        chain,
        (
            3,
            vec!["Job/b -> Deployment/web".into(), "Job/c -> Job/b".into()]
        )
    );
    // A custom resource has no gate, so the graph says nothing of lighter objects.
    let custom = "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, labels: {app.kubernetes.io/instance: r}, \
                  annotations: {sluice.dev/weight: '1'}}\n";
    let beside = drawn([plain(), custom.to_owned(), wave("c", 2)]);
    assert_eq!(beside.0, 2);
    assert_eq!(beside.1.len(), 2);
}
