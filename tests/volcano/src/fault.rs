//! Why the stand-in can't work.

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Nobody can be served.
    #[error("the admission webhook can't be served")]
    Webhook(#[source] Box<dyn std::error::Error + Send + Sync>),
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
    /// Names nothing more than the cause.
    pub(crate) fn webhook(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Webhook(error.into())
    }

    /// Names what was to be done.
    pub(crate) fn api(intention: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let intention = intention.into();
        move |source| Self::Api {
            intention,
            source: Box::new(source),
        }
    }
}
