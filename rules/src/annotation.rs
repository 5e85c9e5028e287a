//! The list: text to [`Dependency`] values, or an error that names the place.

use crate::dependency::Dependency;

/// What is wrong with a list: the key, the place, the text and, for a near miss, the likely word.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: line {line}, column {column}: {problem}")]
pub struct ParseError {
    /// The annotation's key.
    pub key: &'static str,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is wrong, with the text and the way out.
    pub problem: String,
}

/// Parses the value of `sluice.dev/depends-on`.
pub fn parse_depends_on(_text: &str) -> Result<Vec<Dependency>, ParseError> {
    Ok(Vec::new())
}

/// Parses the value of `config.kubernetes.io/depends-on`.
pub fn parse_config_depends_on(_text: &str) -> Result<Vec<Dependency>, ParseError> {
    Ok(Vec::new())
}
