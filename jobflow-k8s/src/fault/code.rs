//! Kinds of faults, for scripts that look for one.

use std::fmt;

/// Kinds of faults. The text of a code is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The text is no YAML.
    Syntax,
    /// The text is too large, too deep, or expands too much.
    TooLarge,
    /// The text is a template that has to be rendered first.
    Unrendered,
    /// A key stands twice in a mapping.
    DuplicateKey,
    /// An object of the same kind and name stands twice.
    DuplicateObject,
    /// A name stands twice.
    DuplicateName,
    /// The object is of a kind that isn't known, or looks like another.
    UnknownKind,
    /// A field that isn't known.
    UnknownField,
    /// A field is missing.
    MissingField,
    /// A value has the wrong type.
    WrongType,
    /// A value is none of the allowed ones, out of range or malformed.
    BadValue,
    /// Fields that exclude each other.
    Conflict,
    /// A name that doesn't follow the rules for names.
    BadName,
    /// A name, or one derived from it, is too long.
    NameTooLong,
    /// Two derived names are the same.
    NameCollision,
    /// A name that points to nothing.
    UnknownReference,
    /// Entries that wait for each other.
    Cycle,
    /// A Job spec that Volcano would refuse.
    BadJob,
    /// A patch that doesn't fit its template.
    BadPatch,
    /// An expression that can't be used.
    BadExpression,
    /// A field that this version doesn't act on yet.
    NotAvailable,
    /// Something that can't be honoured where the flow is to run.
    Unsupported,
    /// The API server refuses it.
    Refused,
}

impl Code {
    /// The stable text of this code.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::TooLarge => "too-large",
            Self::Unrendered => "unrendered",
            Self::DuplicateKey => "duplicate-key",
            Self::DuplicateObject => "duplicate-object",
            Self::DuplicateName => "duplicate-name",
            Self::UnknownKind => "unknown-kind",
            Self::UnknownField => "unknown-field",
            Self::MissingField => "missing-field",
            Self::WrongType => "wrong-type",
            Self::BadValue => "bad-value",
            Self::Conflict => "conflict",
            Self::BadName => "bad-name",
            Self::NameTooLong => "name-too-long",
            Self::NameCollision => "name-collision",
            Self::UnknownReference => "unknown-reference",
            Self::Cycle => "cycle",
            Self::BadJob => "bad-job",
            Self::BadPatch => "bad-patch",
            Self::BadExpression => "bad-expression",
            Self::NotAvailable => "not-available",
            Self::Unsupported => "unsupported",
            Self::Refused => "refused",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
