//! What is to befall requests: a list of rules, and one that decides for itself.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::call::{Call, Verb};
use super::refusal::Refusal;

/// What befalls a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Nothing is done, and this is answered.
    Refused(Refusal),
    /// Nothing is done, and the answer is the one recorded under this word, about the object at hand.
    Recorded(&'static str),
    /// Nothing is done, and this is answered nonetheless: a lie.
    Answered(u16, Value),
    /// It is done, and this is answered.
    DoneAndRefused(Refusal),
    /// The connection breaks before the request is read.
    LostRequest,
    /// It is done, and the connection breaks before the answer.
    LostReply,
    /// The connection breaks at once, and it is done that much later.
    Late(Duration),
    /// It is done that much later, and answered then.
    Slow(Duration),
    /// Nothing is done, and nothing is answered for as long as a client waits.
    Silence,
    /// It is done, and nothing is answered for as long as a client waits.
    DoneInSilence,
}

/// Which requests, and what befalls them.
#[derive(Clone, Debug)]
pub struct Rule {
    who: Option<String>,
    verb: Option<Verb>,
    plural: Option<&'static str>,
    name: Option<String>,
    after: u32,
    times: u32,
    fault: Fault,
}

impl Rule {
    /// Every request meets the fault.
    #[must_use]
    pub const fn all(fault: Fault) -> Self {
        Self {
            who: None,
            verb: None,
            plural: None,
            name: None,
            after: 0,
            times: u32::MAX,
            fault,
        }
    }

    /// Requests with this verb on objects of this plural meet it.
    #[must_use]
    pub fn on(verb: Verb, plural: &'static str, fault: Fault) -> Self {
        Self {
            verb: Some(verb),
            plural: Some(plural),
            ..Self::all(fault)
        }
    }

    /// Only those of this client.
    #[must_use]
    pub fn by(self, who: &str) -> Self {
        Self {
            who: Some(who.to_owned()),
            ..self
        }
    }

    /// Only those about the object of this name.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            ..self
        }
    }

    /// Not the first ones.
    #[must_use]
    pub fn after(self, after: u32) -> Self {
        Self { after, ..self }
    }

    /// Only so many.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }

    fn is_about(&self, call: &Call) -> bool {
        let plural = call.kind.map(|kind| kind.plural);
        self.who.as_ref().is_none_or(|who| *who == call.who)
            && self.verb.is_none_or(|verb| verb == call.verb)
            && self.plural.is_none_or(|wanted| Some(wanted) == plural)
            && self.name.as_ref().is_none_or(|name| *name == call.name)
    }

    /// Whether it is this one's turn.
    fn strikes(&mut self, call: &Call) -> bool {
        if self.times == 0 || !self.is_about(call) {
            return false;
        }
        if self.after > 0 {
            self.after -= 1;
            return false;
        }
        self.times -= 1;
        true
    }
}

type Chooser = Box<dyn FnMut(&Call) -> Option<Fault> + Send>;

/// Everything that is to befall requests.
#[derive(Default)]
pub struct Faults {
    rules: Vec<Rule>,
    chooser: Option<Chooser>,
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults")
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

impl Faults {
    /// Adds a rule; of several that strike the first one counts.
    pub fn add(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    /// Whatever no rule strikes is decided by this.
    pub fn choose(&mut self, chooser: impl FnMut(&Call) -> Option<Fault> + Send + 'static) {
        self.chooser = Some(Box::new(chooser));
    }

    /// Nothing befalls requests any more.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn strike(&mut self, call: &Call) -> Option<Fault> {
        let rule = self.rules.iter_mut().find_map(|rule| {
            let strikes = rule.strikes(call);
            strikes.then(|| rule.fault.clone())
        });
        rule.or_else(|| self.chooser.as_mut().and_then(|choose| choose(call)))
    }
}
