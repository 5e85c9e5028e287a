//! A chart of a page, and the order that the page prints for it.

use crate::docs::{Block, Kind, Stage, blocks, root};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A chart, and its order.
pub(super) struct Family {
    /// The chart in `fixtures/docs` that stands for the public one.
    pub(super) chart: PathBuf,
    /// The name of the release, which the pages call like the chart.
    pub(super) release: String,
    pub(super) order: Order,
    /// The lines of the table of objects that the page shows.
    pub(super) rows: Vec<Row>,
}

/// The page's means to put the chart in order.
pub(super) enum Order {
    /// Values for the chart.
    Values(String),
    /// The manifest of a plan.
    Plan(String),
}

/// A line of the table: an object and its dependencies.
pub(super) struct Row {
    /// The kind and the name of the object, such as `Deployment/api`.
    pub(super) object: String,
    /// The entries of the object as `graph` prints them; empty where the object waits for nothing.
    pub(super) waits_for: String,
}

/// Returns the sections of a page that have commands without a cluster (`sh,offline`); on these pages each such section is about one chart.
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

/// Reads the lines of a table that `graph` has printed, with the columns STEP, OBJECT and WAITS FOR.
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
