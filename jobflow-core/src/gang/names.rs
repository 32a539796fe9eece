//! Enums whose variants carry the names that Volcano and Kubernetes write. In: a text of a manifest, a status or a
//! journal; out: a variant, and back. Deliberately absent: any alias or other spelling.

/// Declares an enum with one fixed spelling a variant.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name {
            $($(#[$doc])* #[cfg_attr(feature = "serde", serde(rename = $text))] $variant,)+
        }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name as Volcano and Kubernetes write it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The variant of that name; `None` for any other text, also for another case.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == name)
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                formatter.pad(self.as_str())
            }
        }
    };
}

pub(super) use named;

#[cfg(test)]
mod tests {
    use crate::gang::{Action, Command, Event, Iteration, JobPhase, PodPhase};

    #[test]
    fn every_name_is_read_back_as_the_variant_that_wrote_it() {
        assert!(
            JobPhase::ALL
                .iter()
                .all(|phase| JobPhase::parse(phase.as_str()) == Some(*phase))
        );
        assert!(
            PodPhase::ALL
                .iter()
                .all(|phase| PodPhase::parse(phase.as_str()) == Some(*phase))
        );
        assert!(
            Event::ALL
                .iter()
                .all(|event| Event::parse(event.as_str()) == Some(*event))
        );
        assert!(
            Action::ALL
                .iter()
                .all(|action| Action::parse(action.as_str()) == Some(*action))
        );
        assert!(
            Command::ALL
                .iter()
                .all(|command| Command::parse(command.as_str()) == Some(*command))
        );
        assert!(
            Iteration::ALL
                .iter()
                .all(|iteration| Iteration::parse(iteration.as_str()) == Some(*iteration))
        );
    }

    #[test]
    fn another_spelling_is_no_name() {
        assert_eq!(JobPhase::parse("running"), None);
        assert_eq!(Event::parse(""), None);
    }
}
