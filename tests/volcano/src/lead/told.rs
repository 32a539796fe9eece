//! A Job that runs as processes, as far as the API server is concerned: news of it are written one after the other.

use std::collections::{BTreeMap, VecDeque};

use jobflow_core::Time;
use jobflow_core::gang::{GangState, PodKey, PodView};

/// What became of a Job.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) gang: GangState,
    pub(crate) pods: BTreeMap<PodKey, PodView>,
}

/// What was told of a Job.
#[derive(Debug)]
pub(crate) struct Told {
    tasks: Vec<String>,
    gang: GangState,
    pods: BTreeMap<PodKey, PodView>,
    /// What is being written.
    next: Option<GangState>,
    news: VecDeque<News>,
}

impl Told {
    pub(crate) fn new(tasks: Vec<String>, now: Time) -> Self {
        Self {
            tasks,
            gang: GangState::new(now),
            pods: BTreeMap::new(),
            next: None,
            news: VecDeque::new(),
        }
    }

    pub(crate) fn tell(&mut self, news: News) {
        self.news.push_back(news);
    }

    pub(super) fn look(&mut self) -> bool {
        if self.next.is_none()
            && let Some(News { gang, pods }) = self.news.pop_front()
        {
            self.pods = pods;
            self.next = Some(gang);
        }
        self.next.is_some()
    }

    /// A state with a status that stands there already isn't written.
    pub(super) fn step(&mut self) -> Option<GangState> {
        if self
            .next
            .as_ref()
            .is_some_and(|next| next.status != self.gang.status)
        {
            return self.next.clone();
        }
        let same = self.next.take();
        same.into_iter().for_each(|next| self.gang = next);
        None
    }

    pub(super) fn commit(&mut self, next: GangState) {
        self.gang = next;
        self.next = None;
    }

    pub(super) const fn gang(&self) -> &GangState {
        &self.gang
    }

    pub(super) fn pods(&self) -> impl Iterator<Item = (PodKey, &PodView)> {
        self.pods.iter().map(|(key, view)| (*key, view))
    }

    pub(super) fn task(&self, key: PodKey) -> &str {
        self.tasks.get(key.task as usize).map_or("", String::as_str)
    }
}
