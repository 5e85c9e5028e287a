//! Prints findings as text, as lines of JSON, as commands of a GitHub workflow or as a SARIF document.

use super::finding::Finding;
use crate::output::{self, Output};
use crate::style::Style;
use anyhow::Result;
use clap::ValueEnum;
use rules::advice::Level;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The form of the findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people.
    Text,
    /// A finding a line, as JSON.
    Json,
    /// Commands of a GitHub workflow, which shows them beside the changed lines.
    Github,
    /// One SARIF 2.1.0 document, for code scanning.
    Sarif,
}

pub(super) fn print(findings: &[Finding], format: ReportFormat, style: Style) -> Result<()> {
    match format {
        ReportFormat::Text => {
            for it in findings {
                output::print_line(&it.told(style));
            }
            Ok(())
        }
        ReportFormat::Json => {
            let mut all = findings.iter();
            all.try_for_each(|it| output::print(it, Output::Json))
        }
        ReportFormat::Github => {
            let mut commands = findings.iter().map(github);
            commands.try_for_each(|command| output::print(&command, Output::Text))
        }
        ReportFormat::Sarif => output::print(&sarif(findings), Output::Text),
    }
}

/// Writes a finding as an annotation of GitHub: `::error file=shop.yaml,line=12,col=29,title=NotAmong::Deployment api:
/// …`
fn github(finding: &Finding) -> String {
    let level = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let data = |text: &str| {
        let text = text.replace('%', "%25").replace('\r', "%0D");
        text.replace('\n', "%0A")
    };
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let file = property(&finding.place.file);
    let at = |key: &str, number: Option<usize>| number.map(|it| format!(",{key}={it}"));
    let line = at("line", finding.line).unwrap_or_default();
    let column = at("col", finding.column).unwrap_or_default();
    let (rule, what) = (finding.rule, data(&finding.what()));
    format!("::{level} file={file}{line}{column},title={rule}::{what}")
}

fn sarif(findings: &[Finding]) -> Value {
    let rules: BTreeSet<_> = findings.iter().map(|it| it.rule).collect();
    let rules: Vec<_> = rules.iter().map(|it| json!({ "id": it })).collect();
    let results: Vec<_> = findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "kubectl-sluice", "version": wire::VERSION, "rules": rules}},
            "results": results,
        }],
    })
}

fn result(finding: &Finding) -> Value {
    let mut place = json!({"artifactLocation": {"uri": finding.place.file}});
    if let (Some(line), Some(column)) = (finding.line, finding.column) {
        place["region"] = json!({"startLine": line, "startColumn": column});
    }
    json!({
        "ruleId": finding.rule,
        "level": finding.level.word(),
        "message": {"text": finding.what()},
        "locations": [{"physicalLocation": place}],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Place;

    fn finding() -> Finding {
        let place = Place {
            file: "a,b/shop: 1.yaml".to_owned(),
            kind: "Job".to_owned(),
            name: "seed".to_owned(),
            ..Place::default()
        };
        let mut finding = Finding::new("Grammar", Level::Note, &place, "100%\nof it");
        (finding.line, finding.column) = (Some(3), Some(7));
        finding
    }

    #[test]
    fn a_workflow_reads_it_as_one_command() {
        assert_eq!(
            github(&finding()),
            "::notice file=a%2Cb/shop%3A 1.yaml,line=3,col=7,title=Grammar::Job seed: 100%25%0Aof it"
        );
    }

    #[test]
    fn a_reader_of_sarif_finds_rule_and_place() {
        let run = sarif(&[finding(), finding()])["runs"][0].take();
        assert_eq!(run["tool"]["driver"]["rules"], json!([{"id": "Grammar"}]));
        assert_eq!(
            run["results"][1],
            json!({
                "ruleId": "Grammar", "level": "note", "message": {"text": "Job seed: 100%\nof it"},
                "locations": [{"physicalLocation": {
                    "artifactLocation": {"uri": "a,b/shop: 1.yaml"}, "region": {"startLine": 3, "startColumn": 7},
                }}],
            })
        );
    }
}
