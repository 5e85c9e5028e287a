//! The sentences that refuse a list in the grammar of cli-utils.

use crate::text::Quoted;

/// Why a text is no list of `config.kubernetes.io/depends-on`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum CliUtilsFault {
    #[error("an entry is empty; remove the comma")]
    EmptyEntry,
    #[error(
        "3 or 5 fields are needed, {} has {fields}; write group/Kind/name or group/namespaces/namespace/Kind/name, the core group being empty",
        Quoted(.entry)
    )]
    Fields { entry: String, fields: usize },
    #[error("the second of five fields is \"namespaces\", not {}; write group/namespaces/namespace/Kind/name", Quoted(.0))]
    NotNamespaces(String),
}
