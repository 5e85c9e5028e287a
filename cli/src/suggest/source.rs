//! The source of rendered objects: a chart that Helm renders, or plain manifests.

use super::budget::RenderShare;
use super::object::{ChartObject, ObjectList};
use super::render::{ChartNames, Copy, Stubs};
use super::switches::Switch;
use crate::manifest::Entries;
use anyhow::Result;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The source of rendered objects: a copy of a chart, or the texts of manifests by their paths below the folder.
#[derive(Debug)]
pub(super) enum ObjectSource {
    Chart(Box<Copy>),
    Plain(Vec<(PathBuf, String)>),
}

impl ObjectSource {
    pub(super) fn render_first(&mut self, values: &Value) -> Result<()> {
        match self {
            Self::Chart(copy) => copy.render_first(values),
            Self::Plain(_) => Ok(()),
        }
    }

    /// Renders a chart with the value of a switch from now on; manifests stay as they are.
    pub(super) fn need(&mut self, switch: &Switch) {
        if let Self::Chart(copy) = self {
            copy.need(switch.pair());
        }
    }

    pub(super) fn render_all(
        &mut self,
        sets: &[Vec<Switch>],
        share: RenderShare,
    ) -> Vec<Option<ObjectList>> {
        match self {
            Self::Chart(copy) => {
                let pairs = |it: &Vec<Switch>| it.iter().map(Switch::pair).collect();
                let sets: Vec<_> = sets.iter().map(pairs).collect();
                copy.render_all(&sets, share)
            }
            Self::Plain(texts) => {
                let objects = texts.iter().flat_map(|(path, text)| {
                    let entries = Entries::new(text.as_bytes()).filter_map(Result::ok);
                    let objects = entries.map(|entry| ChartObject {
                        source: path.clone(),
                        value: entry.object,
                    });
                    objects.collect::<Vec<_>>()
                });
                let all: ObjectList = objects.collect();
                sets.iter().map(|_| Some(ObjectList::clone(&all))).collect()
            }
        }
    }

    /// Renders again those of the sets of values that rendered in `before`. A set that did not render stays `None`. The answer is shorter
    /// than `sets` once the renders of `share` are spent.
    pub(super) fn render_again(
        &mut self,
        sets: &[Vec<Switch>],
        before: &[Option<ObjectList>],
        share: RenderShare,
    ) -> Vec<Option<ObjectList>> {
        let own = sets.iter().zip(before).filter(|it| it.1.is_some());
        let own: Vec<_> = own.map(|it| it.0.clone()).collect();
        let mut found = self.render_all(&own, share).into_iter();
        let all = before.iter().map(|it| match it {
            Some(_) => found.next(),
            None => Some(None),
        });
        all.map_while(|it| it).collect()
    }

    /// The template that is no YAML with a set of values; `None` where the set renders, or fails in another way.
    pub(super) fn without_yaml(&self, set: &[Switch]) -> Option<PathBuf> {
        match self {
            Self::Chart(copy) => copy.without_yaml(&set.iter().map(Switch::pair).collect()),
            Self::Plain(_) => None,
        }
    }

    /// Replaces the text of a file in the copy of the chart, or among the manifests. `own` is the text that the file has in the user's folder,
    /// which stays as it is.
    pub(super) fn put(&mut self, below: &Path, new: &str, own: &str) -> Result<()> {
        match self {
            Self::Chart(copy) => copy.put(below, new, own),
            Self::Plain(texts) => {
                if let Some((_, text)) = texts.iter_mut().find(|(path, _)| path == below) {
                    new.clone_into(text);
                }
                Ok(())
            }
        }
    }

    /// The declared sub-charts that no folder holds; empty for manifests.
    pub(super) fn missing(&self) -> &[String] {
        match self {
            Self::Chart(copy) => &copy.missing,
            Self::Plain(_) => &[],
        }
    }

    /// The names of the chart and of its sub-charts; `None` for manifests.
    pub(super) fn names(&self) -> Option<ChartNames> {
        match self {
            Self::Chart(copy) => Some(copy.names()),
            Self::Plain(_) => None,
        }
    }

    /// The made-up helpers; empty for manifests.
    pub(super) fn stubs(&self) -> Stubs {
        match self {
            Self::Chart(copy) => copy.stubs.clone(),
            Self::Plain(_) => Stubs::default(),
        }
    }

    /// The templates that do not render, each with Helm's error; empty for manifests.
    pub(super) fn broken(&self) -> &[(PathBuf, String)] {
        match self {
            Self::Chart(copy) => &copy.broken,
            Self::Plain(_) => &[],
        }
    }
}
