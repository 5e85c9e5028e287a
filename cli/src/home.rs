//! The place where sluice is published, as the file `release/home` says.

/// The text of the file `release/home`: one `key=value` a line.
const FILE: &str = include_str!("../../release/home");

/// The part of the file that the texts of this program need.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Home<'a> {
    /// Whether a release can be downloaded.
    published: bool,
    /// The folder in a registry that has the images, and the chart below `charts/`.
    registry: &'a str,
}

impl Home<'static> {
    pub(crate) fn own() -> Self {
        Self::read(FILE)
    }
}

impl<'a> Home<'a> {
    fn read(text: &'a str) -> Self {
        let value = |key: &str| {
            let values = text.lines().filter_map(|line| line.strip_prefix(key));
            values.filter_map(|rest| rest.strip_prefix('=')).next_back()
        };
        Self {
            published: value("published") == Some("yes"),
            registry: value("registry").unwrap_or_default(),
        }
    }

    /// The way to install the chart of this version. Before the first release a clone has the chart, and a registry of the
    /// reader's own the images.
    pub(crate) fn installation(&self, version: &str) -> String {
        const INTO: &str = "--namespace sluice-system --create-namespace";
        let Self {
            published,
            registry,
        } = self;
        if *published {
            format!(
                "install the chart: helm install sluice oci://{registry}/charts/sluice --version {version} {INTO}"
            )
        } else {
            format!(
                "nothing is released yet, so build its images in a clone (docs/install.md) and run there: helm install sluice \
                 charts/sluice {INTO} --set image.registry=REGISTRY"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_release_is_installed_from_a_registry() {
        let told = |published: &str| {
            let file = format!("# a=b\npublished={published}\nregistry=registry.example/them\n");
            Home::read(&file).installation("1.2.3")
        };
        let oci = "helm install sluice oci://registry.example/them/charts/sluice --version 1.2.3 ";
        assert!(told("yes").contains(oci), "{}", told("yes"));
        for not_yet in ["no", "", "yes please"] {
            let told = told(not_yet);
            assert!(!told.contains("registry.example"), "{told}");
            assert!(
                told.contains("helm install sluice charts/sluice "),
                "{told}"
            );
        }
    }

    #[test]
    fn the_file_says_both() {
        let Home { registry, .. } = Home::own();
        assert!(registry.contains('/'), "{registry:?}");
        let says = |line: &&str| matches!(*line, "published=yes" | "published=no");
        assert_eq!(FILE.lines().filter(says).count(), 1);
    }
}
