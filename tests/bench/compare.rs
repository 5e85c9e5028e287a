//! Compares two tables of `make bench`, from two builds on one machine: the figures that are worse beyond noise.

use crate::measure::Number;
use crate::table::Table;

/// The factor up to which two figures that were measured once count as equal.
const ONCE: f64 = 1.10;
/// The least factor between two medians that counts as a difference: less is none to a user, however little the figures stray.
const NONE: f64 = 1.03;

/// Returns a Markdown table of the figures that have a number in both tables, with their ratio, and the count of those that have become worse beyond
/// noise. A figure that only one table has is left out.
pub(crate) fn compare(before: &Table, after: &Table) -> (String, usize) {
    let mut lines = vec![
        format!("before: {}", before.machine),
        format!("after: {}", after.machine),
        String::new(),
        "| figure | before | after | ratio | |".to_owned(),
        "| --- | --- | --- | --- | --- |".to_owned(),
    ];
    let mut worse = 0;
    for new in &after.rows {
        let old = before.rows.iter().find(|old| old.what == new.what);
        let Some(old) = old else { continue };
        let (Some(from), Some(to)) = (old.measure.number, new.measure.number) else {
            continue;
        };
        let change = if is_worse(from, to) {
            worse += 1;
            "**worse**"
        } else if is_worse(to, from) {
            "better"
        } else {
            ""
        };
        let (old, new_text, ratio) = (
            &old.measure.text,
            &new.measure.text,
            to.median / from.median,
        );
        lines.push(format!(
            "| {} | {old} | {new_text} | {ratio:.2} | {change} |",
            new.what
        ));
    }
    (lines.join("\n") + "\n", worse)
}

/// Whether the new figure is worse than the old one. With percentiles: three quarters of the new samples exceed three quarters of the old ones, and
/// the median has grown by more than 3 %. Else: it has grown by more than 10 %, or as a rate, the old one exceeds it by more than 10 %.
fn is_worse(old: Number, new: Number) -> bool {
    match (old.spread, new.spread) {
        (Some(from), Some(to)) => to.p25 > from.p75 && new.median > old.median * NONE,
        _ if new.unit.more_is_better() => new.median * ONCE < old.median,
        _ => new.median > old.median * ONCE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Measure;
    use harness::samples::Samples;
    use std::time::Duration;

    fn table(of_one: u64, many: impl Iterator<Item = u64>) -> Table {
        let mut table = Table::default();
        table.row("size", Measure::bytes(of_one), "");
        let samples = Samples::new(many.map(Duration::from_micros).collect());
        table.row("time", &samples, "");
        table.row("words", "of no number".to_owned(), "");
        table
    }

    #[test]
    fn what_strays_by_itself_is_no_regression() {
        let before = table(1000, 100..200);
        let (_, worse) = compare(&before, &table(1090, 140..240));
        assert_eq!(worse, 0);
        let (text, worse) = compare(&before, &table(1110, 180..280));
        assert_eq!(worse, 2, "{text}");
        let rate = |rate| {
            let mut table = Table::default();
            table.row("rate", Measure::per_second(rate), "");
            table
        };
        assert_eq!(compare(&rate(1000.0), &rate(1110.0)).1, 0);
        assert_eq!(compare(&rate(1110.0), &rate(1000.0)).1, 1);
        let (text, worse) = compare(&table(1110, 180..280), &before);
        assert_eq!((worse, text.matches("better").count()), (0, 2), "{text}");
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let table = table(1000, 100..200);
        let text = serde_json::to_string(&table).expect("JSON");
        let read: Table = serde_json::from_str(&text).expect("the same JSON");
        let (compared, worse) = compare(&table, &read);
        assert_eq!(
            (compared.matches("| 1.00 |").count(), worse),
            (2, 0),
            "{compared}"
        );
        assert!(
            text.contains(r#""unit":"ms","median":0.149,"p25":0.124"#),
            "{text}"
        );
    }
}
