//! The made-up release with which charts are rendered.

/// The name of the release with which charts are rendered. No other name contains it, so that it can be found in the rendered objects.
pub(super) const RELEASE: &str = "zqrelease";
pub(super) const NAMESPACE: &str = "zqnamespace";

/// The path of the one value in a set that is no value of the chart: the name of the release, in place of [`RELEASE`].
pub(super) const RELEASE_NAME: &str = "release name";

/// A rendered text with the actions for the names of the release and of its namespace in place of the made-up names.
pub(super) fn shown(text: &str) -> String {
    text.replace(RELEASE, "{{ .Release.Name }}")
        .replace(NAMESPACE, "{{ .Release.Namespace }}")
}
