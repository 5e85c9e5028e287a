//! Vocabulary.
