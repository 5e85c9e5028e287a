//! The sources of manifests: files, charts that Helm renders, and kustomizations that kubectl builds.
//!
//! A kustomization decides what becomes of the files beside it. A file that only kustomizations read, such as a patch, is therefore
//! no source.

mod bases;
mod build;
mod chart;
mod find;
mod kustomization;
mod manifest;
mod outside;
mod reads;

pub(crate) use chart::Chart;
pub(crate) use find::{FoundBy, FoundSource, find};
pub(crate) use manifest::ManifestSource;
