//! Questions of custom predicates: each is put to its source again and again while it is wanted.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, mpsc},
    time::Instant,
};

use jobflow_core::facts::{Answer, FactKey};
use jobflow_k8s::extensions::{Asker, Extensions, FactSource};
use tokio::{
    runtime::Handle,
    sync::Semaphore,
    task::AbortHandle,
    time::{sleep, timeout},
};

use super::Heard;

/// How many questions are with their sources at a time.
const AT_ONCE: usize = 8;
/// After which a source has not answered.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(30);

/// A question: its kind, and its words.
type Question = (Arc<str>, Arc<str>);

/// The questions that are being asked.
#[derive(Debug)]
pub(super) struct Custom {
    runtime: Handle,
    extensions: Extensions,
    asker: Arc<Asker>,
    tell: mpsc::Sender<Heard>,
    places: Arc<Semaphore>,
    asking: BTreeMap<Question, AbortHandle>,
}

impl Custom {
    pub(super) fn new(
        runtime: Handle,
        extensions: Extensions,
        asker: Asker,
        tell: mpsc::Sender<Heard>,
    ) -> Self {
        Self {
            runtime,
            extensions,
            asker: Arc::new(asker),
            tell,
            places: Arc::new(Semaphore::new(AT_ONCE)),
            asking: BTreeMap::new(),
        }
    }

    /// Asks these from now on, and no others. A kind without a source is never answered.
    pub(super) fn want(&mut self, wanted: &BTreeSet<Question>) {
        self.asking.retain(|question, asking| {
            let stays = wanted.contains(question);
            if !stays {
                asking.abort();
            }
            stays
        });
        for question in wanted {
            let (kind, words) = question;
            let Some(source) = self.extensions.source(kind) else {
                continue;
            };
            if !self.asking.contains_key(question) {
                let asked = Asked {
                    source: Arc::clone(source),
                    asker: Arc::clone(&self.asker),
                    kind: Arc::clone(kind),
                    words: Arc::clone(words),
                    tell: self.tell.clone(),
                    places: Arc::clone(&self.places),
                };
                let asking = self.runtime.spawn(asked.ask_on());
                self.asking.insert(question.clone(), asking.abort_handle());
            }
        }
    }
}

impl Drop for Custom {
    fn drop(&mut self) {
        self.asking.values().for_each(AbortHandle::abort);
    }
}

struct Asked {
    source: Arc<dyn FactSource>,
    asker: Arc<Asker>,
    kind: Arc<str>,
    words: Arc<str>,
    tell: mpsc::Sender<Heard>,
    places: Arc<Semaphore>,
}

impl Asked {
    /// Asks until nobody listens; a source that has no answer now is asked again like one that has.
    async fn ask_on(self) {
        loop {
            let (began, answer) = {
                let Ok(_place) = self.places.acquire().await else {
                    return;
                };
                let began = Instant::now();
                let answer = timeout(LONGEST, self.source.answer(&self.asker, &self.words));
                (began, answer.await)
            };
            if let Ok(Ok(answer)) = answer {
                let key = FactKey::Custom {
                    kind: Arc::clone(&self.kind),
                    question: Arc::clone(&self.words),
                };
                let heard = Heard::Fact(key, Answer::Custom(answer.into()), began);
                if self.tell.send(heard).is_err() {
                    return;
                }
            }
            sleep(self.source.period()).await;
        }
    }
}
