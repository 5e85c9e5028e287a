//! Runs commands of the pages that need a container engine, with stand-ins for it: each built target must be in the Dockerfile, and each image that
//! the rendered chart names must have been built and loaded into the cluster.

use super::blocks::{Kind, Stage, blocks};
use super::{pages, read, root};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The script that stands in for `docker`, `kind`, `sudo` and `helm`. It checks their arguments, notes the images that are built and loaded, and
/// renders the chart instead of installing it. Any other call fails.
const STAND_IN: &str = r#"#!/bin/bash
set -eu
case "${0##*/} $1" in
'docker build')
  shift
  output= tag= context=
  while [ $# -gt 0 ]; do
    case $1 in
    --target) grep -q "^FROM .* AS $2\$" "$ROOT/Dockerfile" || { echo "no target $2" >&2; exit 1; }; shift ;;
    --tag) tag=$2; shift ;;
    --output) output=$2; shift ;;
    .) context=$ROOT ;;
    *) echo "docker build: $1" >&2; exit 1 ;;
    esac
    shift
  done
  [ -n "$context" ]
  if [ -n "$output" ]; then touch "$output/kubectl-sluice"; else echo "$tag" >> built; fi ;;
'docker push')
  grep -qx "$2" built
  echo "$2" >> there ;;
'kind create') touch .cluster ;;
'kind load')
  [ -e .cluster ]
  [ "$2" = docker-image ]
  shift 2
  for image; do
    grep -qx "$image" built
    echo "$image" >> there
  done ;;
'sudo install')
  [ -e "$2" ]
  [ "$3" = /usr/local/bin/ ] ;;
'helm install')
  shift
  "$HELM" template --kube-version 1.36.0 "${@/--wait/--debug}" > rendered ;;
*) echo "nothing stands in for $0 $1" >&2; exit 1 ;;
esac
"#;

fn stand_in(folder: &Path) {
    let program = folder.join(".stand-in");
    std::fs::write(&program, STAND_IN).expect("a file");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("ours");
    for name in ["docker", "kind", "sudo", "helm"] {
        std::os::unix::fs::symlink(&program, folder.join(name)).expect("a link");
    }
    std::os::unix::fs::symlink(root().join("charts"), folder.join("charts")).expect("a link");
}

/// Returns the images of the controller and of the gate in a rendered chart.
fn images(rendered: &str) -> Vec<&str> {
    let ours = |line: &&str| line.contains("/sluice-webhook") || line.contains("/sluice-gate");
    let word = |line| {
        str::trim(line)
            .trim_start_matches("image: ")
            .trim_start_matches("- --gate-image=")
            .trim_matches('"')
    };
    rendered.lines().filter(ours).map(word).collect()
}

/// Runs commands with the stand-ins. Returns whether they install the chart; an error where a command fails, or where the chart names an image that
/// was not loaded. Without Helm, prints that the test is skipped and returns false.
fn tried(commands: &str) -> Result<bool, String> {
    let Some(helm) = crate::chart::program("helm") else {
        eprintln!("skipped: no helm here; `make cluster` builds one");
        return Ok(false);
    };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    stand_in(folder);
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let output = Command::new("bash")
        .args(["-eu", "-c", commands])
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", path.as_str()), ("HOME", "/nonexistent")])
        .env("ROOT", root())
        .env("HELM", helm)
        .output()
        .expect("bash starts");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let Ok(rendered) = std::fs::read_to_string(folder.join("rendered")) else {
        return Ok(false);
    };
    let there = std::fs::read_to_string(folder.join("there")).unwrap_or_default();
    let named = images(&rendered);
    let lacking: Vec<_> = named
        .iter()
        .filter(|image| !there.lines().any(|it| it == **image))
        .collect();
    if named.len() < 2 || !lacking.is_empty() {
        return Err(format!("the cluster has not {lacking:?} of {named:?}"));
    }
    Ok(true)
}

#[test]
fn what_needs_a_container_engine_gives_the_cluster_each_image() {
    let mut installed = 0;
    for page in pages() {
        let engine = |kind: &Kind| *kind == Kind::Commands(Stage::Engine);
        let commands: String = blocks(&page)
            .into_iter()
            .filter(|it| engine(&it.kind))
            .map(|it| it.text)
            .collect();
        match tried(&commands) {
            Ok(chart) => installed += usize::from(chart),
            Err(complaint) => panic!("{}: {complaint}\n{commands}", page.display()),
        }
    }
    let helm = crate::chart::program("helm").is_some();
    assert!(installed > 2 || !helm, "{installed}");
}

#[test]
fn what_the_cluster_lacks_is_found() {
    let page = read(&root().join("README.md"));
    let (_, block) = page.split_once("```sh,engine\n").expect("a block");
    let (block, _) = block.split_once("```").expect("its end");
    if crate::chart::program("helm").is_none() {
        return;
    }
    assert_eq!(tried(block), Ok(true));
    for (right, wrong) in [
        ("--target gate", "--target gates"),
        ("sluice-gate:0.1.0 .", "sluice-gate:0.1.1 ."),
        ("image.registry=localhost", "image.registry=elsewhere"),
        (" --set image.registry=localhost", ""),
        ("kind create cluster\n", ""),
    ] {
        assert!(block.contains(right), "{right}");
        let broken = block.replacen(right, wrong, 1);
        assert!(tried(&broken).is_err(), "{broken}");
    }
}
