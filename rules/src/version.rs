//! The version of Kubernetes, as the API server tells it under `/version`.

/// The oldest minor version of Kubernetes 1 in which pods may have image volumes without a feature gate.
pub const IMAGE_VOLUMES: u32 = 35;

/// Reads a minor version, to which a distribution may add a sign: `36+`. `None` for a text that is no number.
pub fn minor(text: &str) -> Option<u32> {
    let digits = text.trim_end_matches(|it: char| !it.is_ascii_digit());
    digits.parse().ok()
}

/// Whether an API server of this major and minor version takes image volumes.
pub fn has_image_volumes(major: &str, minor: &str) -> bool {
    major == "1" && self::minor(minor) >= Some(IMAGE_VOLUMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_volumes_come_with_35() {
        for (minor, expected) in [
            ("34", false),
            ("34+", false),
            ("35", true),
            ("36+", true),
            ("100", true),
            ("", false),
            ("x", false),
        ] {
            assert_eq!(has_image_volumes("1", minor), expected, "{minor}");
        }
        assert!(!has_image_volumes("0", "36"));
    }
}
