//! Reads documents with a quoted text whose further lines are indented less than YAML demands. The reader under kubectl and Helm takes them, and
//! the parser here does not, so each such line gets more blanks, which do not change the text.

use super::Flaw;
use super::document::Documents;
use super::yaml::RawDocument;
use std::collections::VecDeque;

/// The words of the parser about a line of a quoted text that is indented too little.
const NARROW: &str = "invalid indentation in multiline quoted scalar";

/// The blanks that are put before a line of a quoted text that is indented too little: more than documents are nested.
const BLANKS: &str = "                                                                ";

/// The most lines of a text that get blanks: for each of them the text is read once more.
const MOST: usize = 256;

/// Reads one document of a manifest after another; a line of a quoted text that is indented too little gets more blanks before it is read.
pub(super) struct MendedDocuments<'t> {
    documents: Documents<'t>,
    /// The documents that are not handed out yet, from the first one on that needed more blanks; `None` until one does.
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

/// Whether the parser refuses a document for a line of a quoted text that is indented too little.
fn is_narrow(flaw: &Flaw) -> bool {
    flaw.text.contains(NARROW)
}

/// All documents of a text; the first flaw is the last item.
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

/// The documents of `text` from the byte `from` on, where one of them begins, after each line that is indented too little has got blanks. `flaw`
/// is at the first such line. The places in the result are those of `text`, without the blanks.
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
