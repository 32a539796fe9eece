//! Texts read and checked: documents, and everything that is wrong with them in the order of the texts.

mod check;

use std::path::PathBuf;

use jobflow_k8s::extensions::Extensions;
use jobflow_k8s::fault::{Code, Fault};
use jobflow_k8s::schema::Schemas;
use jobflow_k8s::yaml::{self, Document};

use crate::failure::Failure;
use crate::input;

/// The documents of all texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifests {
    /// In the order of the arguments.
    pub(crate) documents: Vec<Document>,
    /// What is wrong.
    pub(crate) faults: Vec<Fault>,
    /// The texts, for showing their lines.
    pub(crate) texts: Vec<input::Text>,
}

impl Manifests {
    /// Reads what is named; nothing is checked but that it can be read.
    pub(crate) fn read(names: &[PathBuf]) -> Result<Self, Failure> {
        let mut manifests = Self {
            texts: input::read(names)?,
            ..Self::default()
        };
        for text in &manifests.texts {
            let yaml::Reading { documents, faults } = yaml::read(&text.name, &text.text);
            manifests.documents.extend(documents);
            // Found again below, over all texts.
            let own = faults
                .into_iter()
                .filter(|fault| fault.code != Code::DuplicateObject);
            manifests.faults.extend(own);
        }
        manifests
            .faults
            .extend(yaml::duplicate_objects(&manifests.documents));
        Ok(manifests)
    }

    /// Checks every document against all that is known of its kind, and the program's own kinds of predicates.
    pub(crate) fn check(&mut self, extensions: &Extensions) {
        let schemas = Schemas::new();
        let faults = check::faults(&self.documents, &schemas, extensions);
        self.add(faults);
    }

    /// Takes faults that were found elsewhere.
    pub(crate) fn add(&mut self, faults: Vec<Fault>) {
        self.faults.extend(faults);
        self.sort();
    }

    /// The line of a text, counted from 1.
    pub(crate) fn line(&self, source: &str, line: u32) -> Option<&str> {
        let text = self.texts.iter().find(|text| text.name == source)?;
        text.text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)
    }

    /// Whether anything can't be used.
    pub(crate) fn has_errors(&self) -> bool {
        self.faults.iter().any(Fault::is_error)
    }

    /// In the order of the texts; within one, from top to bottom.
    fn sort(&mut self) {
        let order = |fault: &Fault| {
            let place = fault.place.as_ref();
            let text = place.and_then(|place| self.texts.iter().position(|text| *text.name == *place.source));
            (text, place.map(|place| place.position))
        };
        let mut faults = std::mem::take(&mut self.faults);
        // Of two that say the same thing, the one with help goes first and stays.
        faults.sort_by_cached_key(|fault| (order(fault), fault.code, fault.help.is_none()));
        let told = |fault: &Fault| {
            let elsewhere = fault.place.is_none().then(|| fault.message.clone());
            (fault.code, fault.place.clone(), fault.path.clone(), elsewhere)
        };
        faults.dedup_by(|later, earlier| told(later) == told(earlier));
        self.faults = faults;
    }
}
