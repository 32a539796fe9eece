//! Why the stand-in can't work.

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The API server refuses something that has to work.
    #[error("{intention} failed")]
    Api {
        /// What was to be done.
        intention: String,
        /// The answer.
        source: Box<kube::Error>,
    },
}

impl Fault {
    /// Names what was to be done.
    pub(crate) fn api(intention: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let intention = intention.into();
        move |source| Self::Api {
            intention,
            source: Box::new(source),
        }
    }
}
