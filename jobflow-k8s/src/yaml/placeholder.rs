//! Placeholders of template languages: a text that holds them has to be rendered before it means anything.
//!
//! Ours, `${{ … }}`, is none of them, and `$(NAME)` belongs to Kubernetes.

use serde_json::Value;

use super::outline::Outline;
use crate::fault::{Code, Fault, FieldPath, MOST_FAULTS, Position, Segment};

/// A language whose placeholders were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Helm's: `{{ .Values.image }}`.
    Helm,
    /// Go's: `{{ .Image }}`, `{{ if … }}`.
    Go,
    /// Argo Workflows': `{{inputs.parameters.image}}`.
    Argo,
    /// Mustache's: `{{#images}}`.
    Mustache,
    /// Jinja's: `{{ image }}`, `{% if … %}`.
    Jinja,
    /// Embedded Ruby's: `<%= image %>`.
    Erb,
    /// envsubst's: `${IMAGE}`.
    Envsubst,
    /// A private one: `<$ image $>`.
    Private,
}

impl Dialect {
    /// What the language is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Helm => "Helm",
            Self::Go => "Go template",
            Self::Argo => "Argo Workflows",
            Self::Mustache => "Mustache",
            Self::Jinja => "Jinja",
            Self::Erb => "ERB",
            Self::Envsubst => "envsubst",
            Self::Private => "`<$ … $>`",
        }
    }

    pub(super) fn fault(self, path: FieldPath) -> Fault {
        let message = format!(
            "a {} placeholder: this is a template, not a manifest",
            self.name()
        );
        let help = match self {
            Self::Helm => "render it first (`helm template`)",
            Self::Envsubst => "render it first (`envsubst`)",
            Self::Argo => "render it first, or convert the workflow that it belongs to",
            Self::Go | Self::Mustache | Self::Jinja | Self::Erb | Self::Private => "render it first",
        };
        Fault::error(Code::Unrendered, path, message).with_help(help)
    }
}

/// The first placeholder of a text that couldn't be read, outside of comments and blocks.
pub(super) fn in_text(text: &str) -> Option<(Position, Dialect)> {
    let mut block: Option<usize> = None;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let trimmed = line.trim();
        let indent = line.len() - line.trim_start().len();
        if trimmed.is_empty() || block.is_some_and(|least| indent > least) {
            continue;
        }
        block = opens_block(trimmed).then_some(indent);
        if trimmed.starts_with('#') {
            continue;
        }
        if let Some((at, dialect)) = find(line) {
            let column = line.get(..at).map_or(0, |before| before.chars().count());
            let column = u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1);
            return Some((Position { line: number, column }, dialect));
        }
    }
    None
}

fn opens_block(line: &str) -> bool {
    let end = line.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
    end.ends_with(": |") || end.ends_with(": >") || end.ends_with("- |") || end.ends_with("- >")
}

/// Where strings of a value hold placeholders.
pub(super) fn in_value(value: &Value, outline: &Outline) -> Vec<(FieldPath, Dialect)> {
    let mut search = Search {
        outline,
        path: FieldPath::root(),
        found: Vec::new(),
    };
    search.look(value, false);
    search.found
}

struct Search<'a> {
    outline: &'a Outline,
    path: FieldPath,
    found: Vec<(FieldPath, Dialect)>,
}

impl Search<'_> {
    /// Looks into a value; its depth is bounded by the reader. `program`: it is text for a program.
    fn look(&mut self, value: &Value, program: bool) {
        match value {
            Value::String(text) => self.judge(text, program),
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    self.path.push(Segment::Index(index));
                    self.look(element, program);
                    self.path.pop();
                }
            }
            Value::Object(fields) => {
                for (name, inner) in fields {
                    self.path.push(Segment::Field(name.clone()));
                    self.look(inner, program || is_program(name));
                    self.path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn judge(&mut self, text: &str, program: bool) {
        if self.found.len() >= MOST_FAULTS {
            return;
        }
        let Some((_, dialect)) = find(text) else { return };
        let free = dialect != Dialect::Helm && (program || self.outline.is_block(&self.path));
        if !free {
            self.found.push((self.path.clone(), dialect));
        }
    }
}

/// Fields whose text is read by a program, a shell or a plugin.
fn is_program(field: &str) -> bool {
    matches!(
        field,
        "command" | "args" | "value" | "plugins" | "annotations" | "data" | "stringData"
    )
}

/// The first placeholder of a text, at a byte; Helm's come before all others.
fn find(text: &str) -> Option<(usize, Dialect)> {
    let found: Vec<_> = text
        .match_indices(['{', '<', '$'])
        .filter_map(|(at, _)| Some((at, at_byte(text, at)?)))
        .collect();
    let helm = found.iter().find(|(_, dialect)| *dialect == Dialect::Helm);
    helm.or_else(|| found.first()).copied()
}

fn at_byte(text: &str, at: usize) -> Option<Dialect> {
    let rest = text.get(at..)?;
    let before = text.get(..at)?.chars().next_back();
    if let Some(inside) = rest.strip_prefix("{{") {
        let inside = (before != Some('$')).then(|| between(inside, "}}"))??;
        return (before != Some('{')).then(|| in_braces(inside));
    }
    if let Some(inside) = rest.strip_prefix("{%") {
        return between(inside, "%}").map(|_| Dialect::Jinja);
    }
    if let Some(inside) = rest.strip_prefix("<%") {
        return between(inside, "%>").map(|_| Dialect::Erb);
    }
    if let Some(inside) = rest.strip_prefix("<$") {
        return between(inside, "$>").map(|_| Dialect::Private);
    }
    let name = between(rest.strip_prefix("${")?, "}")?;
    let name = name.split([':', '-']).next().unwrap_or(name);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name && before != Some('$')).then_some(Dialect::Envsubst)
}

/// What stands before `end`, on the same line.
fn between<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let line = text.lines().next()?;
    line.find(end).and_then(|at| line.get(..at))
}

fn in_braces(inside: &str) -> Dialect {
    const HELM: [&str; 5] = [".Values", ".Release", ".Chart", ".Capabilities", ".Files"];
    const HELM_WORDS: [&str; 3] = ["include", "toYaml", "tpl"];
    const GO_WORDS: [&str; 9] = [
        "if", "else", "end", "range", "with", "define", "template", "block", "printf",
    ];
    const ARGO: [&str; 7] = [
        "inputs.",
        "outputs.",
        "workflow.",
        "steps.",
        "tasks.",
        "item",
        "=",
    ];

    let inside = inside.trim_matches(|c: char| c == '-' || c.is_whitespace());
    let word = inside
        .split(|c: char| c.is_whitespace() || c == '.')
        .next()
        .unwrap_or_default();
    if HELM.iter().any(|root| inside.contains(root)) || HELM_WORDS.contains(&word) {
        return Dialect::Helm;
    }
    if inside.starts_with(['.', '$', '/']) && !inside.starts_with("/ ") || GO_WORDS.contains(&word) {
        return Dialect::Go;
    }
    if ARGO.iter().any(|root| inside.starts_with(root)) {
        return Dialect::Argo;
    }
    if inside.starts_with(['#', '^', '>', '!', '&', '{']) {
        return Dialect::Mustache;
    }
    Dialect::Jinja
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_is_known_by_its_placeholder() {
        for (text, dialect) in [
            ("{{ .Values.image }}", Some(Dialect::Helm)),
            ("{{- include \"x\" . | nindent 4 }}", Some(Dialect::Helm)),
            ("{{- if .Release.IsInstall }}", Some(Dialect::Helm)),
            ("{{ .Image }}", Some(Dialect::Go)),
            ("{{- end }}", Some(Dialect::Go)),
            ("{{inputs.parameters.x}}", Some(Dialect::Argo)),
            ("{{=sprig.trim(x)}}", Some(Dialect::Argo)),
            ("{{#list}}", Some(Dialect::Mustache)),
            ("{{ image }}", Some(Dialect::Jinja)),
            ("{% for x in y %}", Some(Dialect::Jinja)),
            ("<%= x %>", Some(Dialect::Erb)),
            ("<$ N $>", Some(Dialect::Private)),
            ("a-${NAME}", Some(Dialect::Envsubst)),
            ("${NAME:-x}", Some(Dialect::Envsubst)),
            ("${{ params.n }}", None),
            ("$${{ params.n }}", None),
            ("$(NAME)", None),
            ("$NAME ${ x }", None),
            ("a < b {x}", None),
        ] {
            assert_eq!(find(text).map(|(_, dialect)| dialect), dialect, "{text}");
        }
    }

    #[test]
    fn blocks_and_comments_of_a_broken_text_are_passed_over() {
        let text = "a: |\n  {{ .x }}\n# {{ .y }}\nb: 1\n  c: {{ z }}\n";
        assert_eq!(
            in_text(text),
            Some((Position { line: 5, column: 6 }, Dialect::Jinja))
        );
    }
}
