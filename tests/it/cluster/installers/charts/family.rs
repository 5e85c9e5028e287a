//! A chart of a page, and what the page says of it.

use crate::docs::{Block, Kind, Stage, blocks, root};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A chart, and its order.
pub(super) struct Family {
    /// The chart of our own that stands for it.
    pub(super) chart: PathBuf,
    /// Called like the chart, as the pages say.
    pub(super) release: String,
    pub(super) order: Order,
    /// The table that the page shows.
    pub(super) rows: Vec<Row>,
}

/// The page's means to put the chart in order.
pub(super) enum Order {
    /// Values for the chart.
    Values(String),
    /// The manifest of a plan.
    Plan(String),
}

/// A line of the table.
pub(super) struct Row {
    /// `Deployment/api`
    pub(super) object: String,
    /// The entries of the object as `graph` prints them; empty where the object waits for nothing.
    pub(super) waits_for: String,
}

/// The sections of a page that have a chart.
pub(super) fn sections(page: &str) -> BTreeSet<String> {
    let blocks = blocks(&root().join("docs").join(page)).into_iter();
    let charts = blocks.filter(|it| it.kind == Kind::Commands(Stage::Offline));
    charts.map(|it| it.section).collect()
}

impl Family {
    pub(super) fn of(page: &str, section: &str) -> Self {
        let page = root().join("docs").join(page);
        let blocks = blocks(&page).into_iter();
        let blocks: Vec<Block> = blocks.filter(|it| it.section == section).collect();
        let order = blocks.iter().find_map(|it| match &it.kind {
            Kind::Values(_) => Some(Order::Values(it.text.clone())),
            Kind::File(_) => Some(Order::Plan(it.text.clone())),
            _ => None,
        });
        let table = blocks.iter().find(|it| it.kind == Kind::Output);
        let page = page.file_stem().expect("a page has a name");
        let folder = root().join("tests/fixtures/docs").join(page).join(section);
        let mut inside = folder.read_dir().expect("a folder of fixtures");
        let chart = inside.next().expect("a chart is in it").expect("readable");
        Self {
            chart: chart.path(),
            release: chart.file_name().into_string().expect("a plain name"),
            order: order.expect("values or a plan"),
            rows: rows(&table.expect("a table").text),
        }
    }
}

/// `STEP  OBJECT  WAITS FOR`, each below its heading.
fn rows(table: &str) -> Vec<Row> {
    let mut lines = table.lines();
    let heading = lines.next().unwrap_or_default();
    let column = |name: &str| heading.find(name).expect("the table of graph");
    let (object, waits_for) = (column("OBJECT"), column("WAITS FOR"));
    lines
        .map(|line| Row {
            object: line[object..waits_for.min(line.len())].trim().to_owned(),
            waits_for: line.get(waits_for..).unwrap_or_default().to_owned(),
        })
        .collect()
}
