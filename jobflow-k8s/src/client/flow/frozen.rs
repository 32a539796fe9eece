//! The frozen templates of a flow: which are there, which are to be made, and what Jobs are made from.
//!
//! A template is frozen as soon as the flow is seen with it, not when its entry starts. What the store shows of frozen
//! ones is used; that one isn't there is told by a live list only, before it is made. A copy that somebody deletes is
//! frozen again, from what the template is by then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jobflow_core::snapshot::RefusalClass;
use jobflow_core::{NodeId, Time};

use super::base::is_newer;
use super::prepare::template_of;
use super::{FlowDriver, Held, Pending, Request, Stepped, Surroundings};
use crate::client::observer::Finding;
use crate::client::request::Response;
use crate::frozen::{fits, flow_of, freeze, selector, size, source_of, thaw};
use crate::observe::{Answer, SlimTemplate, refusal, unanswered};
use crate::types::{JobFlow, TemplateBinding};

/// Whether a flow freezes its templates.
pub(super) fn is_bound(flow: &JobFlow) -> bool {
    flow.spec.template_binding == Some(TemplateBinding::Snapshot)
}

/// What an entry that names a template is made from.
#[derive(Clone, Debug)]
pub(super) enum Template {
    /// This.
    There(Arc<SlimTemplate>),
    /// There is no such template.
    Missing,
    /// It is being frozen.
    Freezing,
    /// It can't be used, and why.
    Faulty(String),
}

/// Where a flow finds its templates.
#[derive(Clone, Copy)]
pub(super) struct Templates<'a> {
    /// What the store shows.
    live: &'a dyn Fn(&str) -> Option<Arc<SlimTemplate>>,
    /// None if each attempt reads its template anew.
    frozen: Option<&'a Frozen>,
    /// Whether one that isn't frozen yet is used as it is: in a dry run nothing is made.
    dry_run: bool,
}

impl<'a> Templates<'a> {
    /// The templates of this flow.
    pub(super) fn of(flow: &JobFlow, frozen: &'a Frozen, around: &'a Surroundings<'a>) -> Self {
        Self {
            live: around.templates,
            frozen: is_bound(flow).then_some(frozen),
            dry_run: around.settings.dry_run,
        }
    }

    /// What Jobs are made from.
    pub(super) fn find(self, name: &str) -> Template {
        let live = || (self.live)(name);
        match self.frozen.and_then(|frozen| frozen.copy(name)) {
            Some(Ok(copy)) => Template::There(Arc::clone(copy)),
            Some(Err(why)) => Template::Faulty(why.clone()),
            None => match live() {
                Some(_) if self.frozen.is_some() && !self.dry_run => Template::Freezing,
                Some(template) => Template::There(template),
                None => Template::Missing,
            },
        }
    }

    /// What is known of a template already, frozen or not.
    pub(super) fn known(self, name: &str) -> Option<Arc<SlimTemplate>> {
        match self.find(name) {
            Template::There(template) => Some(template),
            Template::Freezing => (self.live)(name),
            Template::Missing | Template::Faulty(_) => None,
        }
    }
}

/// The frozen templates of one flow.
#[derive(Debug, Default)]
pub(super) struct Frozen {
    /// Those that are there, by their own names.
    objects: BTreeMap<String, Arc<SlimTemplate>>,
    /// The templates as they were, by the names that they had; or why one can't be used.
    copies: BTreeMap<String, Result<Arc<SlimTemplate>, String>>,
    /// Templates that can't be frozen, and why.
    refused: BTreeMap<String, String>,
    /// What was said to a create, until a list tells whether it is there all the same.
    said: BTreeMap<String, Answer>,
    /// Whether a live read has shown all, and none has gone since.
    listed: bool,
}

impl Frozen {
    /// The template of this name as it was frozen; why it can't be used; nothing if it isn't frozen.
    fn copy(&self, name: &str) -> Option<Result<&Arc<SlimTemplate>, &String>> {
        match self.copies.get(name) {
            Some(copy) => Some(copy.as_ref()),
            None => self.refused.get(name).map(Err),
        }
    }

    /// Takes in one that is there.
    fn see(&mut self, template: Arc<SlimTemplate>) -> bool {
        let name = template.metadata.name.clone().unwrap_or_default();
        let known = self.objects.get(&name);
        if known.is_some_and(|known| !is_newer(version(&template), version(known))) {
            return false;
        }
        self.objects.insert(name, template);
        true
    }

    /// Works out anew what Jobs are made from: of several copies of a template the oldest.
    fn thaw(&mut self, uid: &str) {
        let mut objects: Vec<&Arc<SlimTemplate>> = self.objects.values().collect();
        objects.sort_by_key(|object| {
            object
                .metadata
                .creation_timestamp
                .as_ref()
                .map(|created| created.0)
        });
        self.copies.clear();
        for object in objects {
            let Some(source) = source_of(&object.metadata) else {
                continue;
            };
            self.refused.remove(source);
            self.copies.entry(source.to_owned()).or_insert_with(|| {
                let thawed = thaw(uid, object).map(|template| Arc::new(template.into()));
                thawed.map_err(|fault| fault.to_string())
            });
        }
    }

    /// The live template of this name is another now: it may be one that can be frozen.
    pub(super) fn retry(&mut self, name: &str) {
        self.refused.remove(name);
    }

    fn bytes(&self) -> usize {
        self.objects.values().map(|object| size(object)).sum()
    }
}

impl FlowDriver {
    /// A frozen template is there: the store shows it, or an answer.
    pub(super) fn frozen_seen(&mut self, template: Arc<SlimTemplate>) {
        if flow_of(&template.metadata) == Some(&self.uid) && self.frozen.see(template) {
            self.frozen_changed();
        }
    }

    /// The store says that a frozen template is gone.
    pub(super) fn frozen_gone(&mut self, name: &str) {
        if self.frozen.objects.remove(name).is_some() {
            self.frozen.listed = false;
            self.frozen_changed();
        }
    }

    /// What was made of templates is made anew.
    fn frozen_changed(&mut self) {
        self.frozen.thaw(&self.uid);
        if let Some(parsed) = &mut self.parsed {
            parsed.templates_changed = true;
        }
    }

    /// Whether what becomes of the live template of this name is nothing to the flow.
    pub(super) fn is_frozen(&self, name: &str) -> bool {
        let bound = self.base.as_ref().is_some_and(|base| is_bound(&base.object));
        bound && self.frozen.copies.contains_key(name)
    }

    /// Freezes what the flow names and isn't frozen yet, once it is known to be so.
    pub(super) fn freeze(&mut self, stepped: &mut Stepped, around: &Surroundings<'_>, now: Time) {
        let Some(base) = self.base.as_ref().filter(|base| is_bound(&base.object)) else {
            return;
        };
        if around.settings.dry_run || self.is_freezing() {
            return;
        }
        let object = Arc::clone(&base.object);
        let mut wanted = self.unfrozen(around);
        wanted.retain(|template| !self.holds.holds(&Held::Freeze(name(template)), now));
        if wanted.is_empty() || self.holds.holds(&Held::Frozen, now) || !self.may_act(stepped, now) {
            return;
        }
        if !self.frozen.listed {
            let selector = selector(&object.metadata);
            return self.send(stepped, Pending::ListFrozen, Request::ListFrozen { selector });
        }
        let mut used = self.frozen.bytes();
        for template in wanted {
            let source = name(&template);
            let frozen = freeze(&object, &template).and_then(|frozen| Ok((fits(used, &frozen)?, frozen)));
            match frozen {
                Ok((all, frozen)) => {
                    used = all;
                    let Ok(body) = serde_json::to_vec(&frozen) else {
                        continue;
                    };
                    let body = body.into();
                    self.send(stepped, Pending::Freeze(source), Request::FreezeTemplate { body });
                }
                Err(fault) => self.cannot_freeze(source, fault.to_string(), stepped, now),
            }
        }
    }

    fn cannot_freeze(&mut self, source: String, why: String, stepped: &mut Stepped, now: Time) {
        self.frozen.refused.insert(source, why);
        stepped.wake_by(now);
    }

    fn is_freezing(&self) -> bool {
        let mut pending = self.pending.values();
        pending.any(|pending| matches!(pending, Pending::ListFrozen | Pending::Freeze(_)))
    }

    /// The templates of entries that may still start, as far as they are there and not frozen; in the order of the spec.
    fn unfrozen(&self, around: &Surroundings<'_>) -> Vec<Arc<SlimTemplate>> {
        let Some(flow) = self.parsed.as_ref().and_then(|parsed| parsed.flow()) else {
            return Vec::new();
        };
        let nodes = &self.snapshot.record.nodes;
        let has_ended = |at: usize| {
            let node = u32::try_from(at).ok().and_then(|at| nodes.get(NodeId(at)));
            node.is_some_and(|node| node.phase().is_end())
        };
        let entries = flow.entries.iter().enumerate();
        let open = entries.filter(|(at, _)| !has_ended(*at));
        let names = open.filter_map(|(_, entry)| template_of(entry));
        let mut seen = BTreeSet::new();
        names
            .filter(|name| self.frozen.copy(name).is_none() && seen.insert(*name))
            .filter_map(|name| (around.templates)(name))
            .collect()
    }

    pub(super) fn frozen_listed(&mut self, response: Response, around: &Surroundings<'_>, now: Time) {
        let Response::Templates(templates) = response else {
            return self.holds.failed(Held::Frozen, response.asked_to_wait(), now);
        };
        self.holds.clear(&Held::Frozen);
        self.frozen.listed = true;
        let ours = templates
            .into_iter()
            .filter(|template| flow_of(&template.metadata) == Some(&self.uid));
        self.frozen.objects = ours
            .map(|template| (name(&template), Arc::new(template)))
            .collect();
        self.frozen_changed();
        for (source, answer) in std::mem::take(&mut self.frozen.said) {
            if self.frozen.copies.contains_key(&source) {
                continue;
            }
            let why = format!("the template `{source}` can't be frozen: {}", answer.message);
            if answer.class == RefusalClass::Final {
                self.frozen.refused.insert(source, why);
            } else {
                self.find(around, Finding::NotFrozen(why));
            }
        }
    }

    /// Whatever else the server says, a list tells whether it is there before that is judged.
    pub(super) fn template_frozen(&mut self, source: String, response: Response, now: Time) {
        let hold = Held::Freeze(source.clone());
        let other = match response.into_template() {
            Ok(template) => {
                self.holds.clear(&hold);
                return self.frozen_seen(Arc::new(*template));
            }
            Err(other) => other,
        };
        self.holds.failed(hold, other.asked_to_wait(), now);
        if matches!(other, Response::Unsent(_)) {
            return;
        }
        self.frozen.listed = false;
        let answer = match other.said() {
            Some(said) => refusal(said.code, &said.body, None),
            None => unanswered(&format!("{other:?}")),
        };
        self.frozen.said.insert(source, answer);
    }
}

fn name(template: &SlimTemplate) -> String {
    template.metadata.name.clone().unwrap_or_default()
}

fn version(template: &SlimTemplate) -> &str {
    template.metadata.resource_version.as_deref().unwrap_or_default()
}
