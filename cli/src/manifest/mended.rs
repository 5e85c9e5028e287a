//! Reads documents with a quoted text whose further lines are indented less than YAML demands. The reader under kubectl and Helm takes them, and
//! the parser here does not, so each such line gets more blanks, which do not change the text.

use super::Flaw;
use super::document::Documents;
use super::yaml::RawDocument;
use std::collections::VecDeque;

/// The words of the parser about such a line.
const NARROW: &str = "invalid indentation in multiline quoted scalar";

/// The blanks that such a line gets, which is deeper than documents are nested.
const BLANKS: &str = "                                                                ";

/// The most such lines of a text. Each has the text read once more.
const MOST: usize = 256;

/// Reads one document of a manifest after another.
pub(super) struct MendedDocuments<'t> {
    documents: Documents<'t>,
    /// The rest of the documents, from the first one with such a line on.
    rest: Option<VecDeque<Result<RawDocument, Flaw>>>,
}

impl<'t> MendedDocuments<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            documents: Documents::new(text),
            rest: None,
        }
    }

    /// The next document, if there is one. Nothing is read behind an error.
    pub(super) fn read(&mut self) -> Result<Option<RawDocument>, Flaw> {
        if let Some(rest) = &mut self.rest {
            return rest.pop_front().transpose();
        }
        match self.documents.read() {
            Err(flaw) if is_narrow(&flaw) => {
                let Documents { text, began, .. } = self.documents;
                self.rest = Some(mended(text, began, &flaw).into());
                self.read()
            }
            other => other,
        }
    }
}

/// Whether a flaw of the parser is such a line.
fn is_narrow(flaw: &Flaw) -> bool {
    flaw.text.contains(NARROW)
}

/// All documents up to the first flaw.
fn all(text: &str) -> Vec<Result<RawDocument, Flaw>> {
    let mut documents = Documents::new(text);
    let mut all = Vec::new();
    while let Some(next) = documents.read().transpose() {
        let is_flaw = next.is_err();
        all.push(next);
        if is_flaw {
            break;
        }
    }
    all
}

/// The documents of `text` from the byte `from` on, where one of them begins; `flaw` is the first such line.
fn mended(text: &str, from: usize, flaw: &Flaw) -> Vec<Result<RawDocument, Flaw>> {
    let mut mended = text[from..].to_owned();
    let mut added: Vec<usize> = Vec::new();
    let mut next = Some(flaw.at - from);
    let mut found = Vec::new();
    while let Some(at) = next.take() {
        let line = mended[..at].rfind('\n').map_or(0, |it| it + 1);
        mended.insert_str(line, BLANKS);
        added.push(line);
        found = all(&mended);
        if let Some(Err(flaw)) = found.last() {
            next = (is_narrow(flaw) && added.len() < MOST).then_some(flaw.at);
        }
    }
    let own = |at: usize| {
        let before = added.iter().filter(|line| **line < at).count();
        from + at - before * BLANKS.len()
    };
    let in_text = |it: Flaw| Flaw {
        at: own(it.at),
        text: it.text,
    };
    let found = found.into_iter().map(|it| match it {
        Ok(it) => Ok(RawDocument {
            value: it.value,
            flaw: it.flaw.map(in_text),
            twice: it.twice.into_iter().map(in_text).collect(),
            at: own(it.at),
        }),
        Err(flaw) => Err(in_text(flaw)),
    });
    found.collect()
}
