//! Finds the place of an annotation in a template, and writes the annotation there.

use super::diff::Edit;
use super::document::{Document, indent, is_action};
use super::texts::Texts;

const WEIGHT: &str = "sluice.dev/weight";
const HOOKS: [&str; 2] = ["argocd.argoproj.io/hook", "helm.sh/hook"];
const WAVE: &str = "argocd.argoproj.io/sync-wave";

/// The change that writes a list into the annotations of the workload, or else of its pod template, or else above a helper that writes all
/// metadata. `None` where none of them leaves a place, as computed annotations may. A list that names a variable of the pod has to stand on the
/// pod template. `texts` has the helpers that the document includes.
pub(super) fn annotate(texts: &Texts, document: &Document<'_>, list: &[String]) -> Option<Edit> {
    let own = document
        .lines
        .iter()
        .position(|it| it.trim_end() == "metadata:");
    let template = || {
        let lines = document.lines.iter();
        let template = lines.clone().position(|it| it.trim() == "template:")?;
        let inside = lines
            .skip(template + 1)
            .position(|it| it.trim() == "metadata:")?;
        Some(template + 1 + inside)
    };
    let place = |metadata: usize| beneath(document, metadata, list);
    let has_variable = list.iter().any(|it| it.contains("$("));
    let own = own.filter(|_| !has_variable || document.kind() == Some("Pod"));
    own.and_then(place)
        .or_else(|| template().and_then(place))
        .or_else(|| above_helper(texts, document, list))
}

/// The change that writes a list above a helper that writes all metadata: `metadata: {{- include "shop.metadata" . | nindent 2 }}`. `None` where
/// that helper may write annotations, too, and where no helper writes all metadata.
fn above_helper(texts: &Texts, document: &Document<'_>, list: &[String]) -> Option<Edit> {
    const KEY: &str = "metadata:";
    let has_variable = list.iter().any(|it| it.contains("$("));
    let lines = document.lines.iter().enumerate();
    let computed = |it: &str| {
        let action = it.trim().strip_prefix(KEY)?.trim();
        let inner = action.strip_prefix("{{-")?.trim_start();
        let is_whole = inner.starts_with("include \"") && is_action(action);
        let (_, depth) = inner.split_once("| nindent ")?;
        let depth: usize = depth.trim_end_matches(['}', '-', ' ']).parse().ok()?;
        is_whole.then(|| (indent(it), depth, action.to_owned()))
    };
    // The first is the workload's own, the second the pod template's.
    let all = lines.filter_map(|(at, it)| Some((at, computed(it)?)));
    let mut all = all.skip(usize::from(has_variable && document.kind() != Some("Pod")));
    let (at, (outer, depth, action)) = all.next()?;
    if may_annotate(texts, &action) {
        return None;
    }
    let mut added = vec![pad(outer, KEY), pad(depth, "annotations:")];
    added.extend(list.iter().map(|line| pad(depth + 2, line)));
    added.push(pad(depth, &action));
    Some(Edit {
        at: document.first + at,
        removed: 1,
        added,
    })
}

/// Whether an action that includes a helper may write annotations: the action hands them over, the helper reads them from a value, or the
/// helper is not known.
fn may_annotate(texts: &Texts, action: &str) -> bool {
    let helper = action.split('"').nth(1).and_then(|it| texts.helper(it));
    let reads = |text: &str| {
        let paths = text.split(".Values.").skip(1);
        let mut paths = paths.filter_map(|it| it.split([' ', ')', '}']).next());
        paths.any(|it| it.to_lowercase().contains("annotations"))
    };
    helper.is_none() || action.contains("nnotations") || reads(&texts.reach(action))
}

/// The change that writes the number of a workload's sync wave as its weight; `None` for other objects, and where it has a weight already, or no
/// number as its wave. A hook gets no weight: it runs before or after the objects that the weight would order, and a hook before a sync would
/// wait for the very workloads that the sync mends.
pub(super) fn weigh(document: &Document<'_>) -> Option<Edit> {
    let is_hook = HOOKS.iter().any(|hook| document.has(hook));
    if !document.is_workload() || document.has(WEIGHT) || is_hook {
        return None;
    }
    let at = document.line_of(WAVE)?;
    let line = &document.lines[at];
    let (_, weight) = line.split_once(':')?;
    let number: i64 = weight.trim().trim_matches(['"', '\'']).parse().ok()?;
    let indent = &line[..indent(line)];
    Some(Edit {
        at: document.first + at + 1,
        removed: 0,
        added: vec![format!("{indent}{WEIGHT}: \"{number}\"")],
    })
}

/// The change that puts lines among the annotations of the `metadata:` on the document's line `at`, from 0, and adds the key `annotations:` where
/// it is missing. `None` where the annotations are computed in a form that leaves no place.
fn beneath(document: &Document<'_>, at: usize, list: &[String]) -> Option<Edit> {
    let lines = document.lines;
    let outer = indent(&lines[at]);
    let block = lines[at + 1..].iter();
    let block = block.take_while(|it| is_action(it) || it.trim().is_empty() || indent(it) > outer);
    let block: Vec<&str> = block.map(String::as_str).collect();
    let plain = |it: &&&str| !is_action(it) && !it.trim().is_empty();
    let inner = block.iter().find(plain).map_or(outer + 2, |it| indent(it));
    let annotations = block
        .iter()
        .position(|it| indent(it) == inner && it.trim_start().starts_with("annotations:"));
    let padded = || list.iter().map(|line| pad(inner + 2, line));
    let first = document.first + at + 1;
    let Some(found) = annotations else {
        let mut added = vec![pad(inner, "annotations:")];
        added.extend(padded());
        return Some(Edit {
            at: first,
            removed: 0,
            added,
        });
    };
    let computed = match block[found].trim().strip_prefix("annotations:")?.trim() {
        "" => None,
        // `annotations: {{- toYaml .Values.x | nindent 4 }}` begins with a line break of its own, so the action may stand below a list.
        action if action.starts_with("{{-") && action.contains("nindent") && is_action(action) => {
            Some(pad(inner + 2, action))
        }
        _ => return None,
    };
    let conditions = block[..found].iter().filter(|it| is_action(it));
    let open = conditions.fold(0_i32, |open, it| open + opens(it));
    // Actions that set variables may stand between a condition and the key.
    let between = block[..found].iter().rev();
    let sets = between.take_while(|it| is_action(it) && opens(it) == 0);
    let from = found - sets.count();
    let mut added = vec![pad(inner, "annotations:")];
    added.extend(padded());
    match (open, computed) {
        (0, None) => Some(Edit {
            at: first + found + 1,
            removed: 0,
            added: padded().collect(),
        }),
        // A computed text without a condition around it may be `{}`, which cannot stand below a list. So this arm takes only a condition
        // that encloses the annotations alone, such as `{{- with .Values.podAnnotations }}`, and moves it behind the key and the list.
        (1, computed)
            if from > 0 && opens(block[from - 1]) == 1 && closes_behind(&block[found..], inner) =>
        {
            let before = block[from - 1..found].iter();
            added.extend(before.map(|it| (*it).to_owned()));
            added.extend(computed);
            Some(Edit {
                at: first + from - 1,
                removed: found - from + 2,
                added,
            })
        }
        _ => None,
    }
}

/// A text behind so many blanks.
fn pad(by: usize, text: &str) -> String {
    format!("{}{text}", " ".repeat(by))
}

/// Whether the action that is open around the annotations closes right behind them. `block` begins with the line `annotations:`, and the
/// annotations are indented by more than `inner` blanks.
fn closes_behind(block: &[&str], inner: usize) -> bool {
    let mut open = 1;
    for line in &block[1..] {
        if is_action(line) {
            open += opens(line);
            if open == 0 {
                return true;
            }
        } else if !line.trim().is_empty() && indent(line) <= inner {
            return false;
        }
    }
    false
}

/// The change in the number of open actions by the action on a line: 1, 0 or -1.
fn opens(line: &str) -> i32 {
    let action = line
        .trim()
        .trim_start_matches("{{")
        .trim_start_matches('-')
        .trim_start();
    let word = action.split([' ', '-', '}']).next();
    match word {
        Some("if" | "with" | "range" | "define" | "block") => 1,
        Some("end") => -1,
        _ => 0,
    }
}
