//! What an embedding program adds: kinds of predicates, and where the answers to their questions come from.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jobflow_core::condition::PredicateFactory;

/// The questioner: which flow asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// The namespace; whatever a question names is looked for there.
    pub namespace: String,
    /// The flow.
    pub flow: String,
}

/// Answers the questions of one kind of predicate. Plans never wait for it.
#[async_trait]
pub trait FactSource: Send + Sync {
    /// The kind; that of the [`PredicateFactory`] whose predicates ask.
    fn kind(&self) -> &str;

    /// How long an answer is good for before it is asked for again.
    fn period(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Answers a question of a predicate.
    ///
    /// # Errors
    ///
    /// Why there is no answer now. The question stays open and is asked again.
    async fn answer(&self, asker: &Asker, question: &str) -> Result<String, String>;
}

/// Everything that an embedding program adds to a driver.
#[derive(Clone, Default)]
pub struct Extensions {
    predicates: Vec<Arc<dyn PredicateFactory>>,
    sources: BTreeMap<String, Arc<dyn FactSource>>,
}

impl Extensions {
    /// Adds a kind of predicates for `dependsOn.custom`.
    #[must_use]
    pub fn with_predicates(mut self, factory: Arc<dyn PredicateFactory>) -> Self {
        self.predicates.push(factory);
        self
    }

    /// Adds where the questions of a kind are answered. A later one of the same kind replaces it.
    #[must_use]
    pub fn with_source(mut self, source: Arc<dyn FactSource>) -> Self {
        self.sources.insert(source.kind().to_owned(), source);
        self
    }

    /// The kinds of predicates, as [`crate::parse::Known`] takes them.
    #[must_use]
    pub fn predicates(&self) -> &[Arc<dyn PredicateFactory>] {
        &self.predicates
    }

    /// Who answers questions of this kind.
    #[must_use]
    pub fn source(&self, kind: &str) -> Option<&Arc<dyn FactSource>> {
        self.sources.get(kind)
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extensions")
            .field("predicates", &self.predicates)
            .field("sources", &self.sources.keys())
            .finish()
    }
}
