//! A fault with the line that it is in, for people; and as an object, for programs.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use jobflow_k8s::fault::{Fault, Place, Severity};
use serde_json::{Value, json};

use crate::console::{Charset, Console};
use crate::escape::{replaced, terminal};
use crate::manifests::Manifests;

/// Tells all faults of manifests.
pub(crate) fn tell(manifests: &Manifests, console: &mut Console) {
    for fault in &manifests.faults {
        let drawn = for_people(fault, manifests, console);
        console.talk(&drawn);
    }
}

/// Draws a fault; the text ends with a line end.
fn for_people(fault: &Fault, manifests: &Manifests, console: &Console) -> String {
    let renderer = match console.talk_is_styled() {
        true => Renderer::styled(),
        false => Renderer::plain(),
    };
    let renderer = renderer
        .term_width(console.width())
        .decor_style(match console.charset() {
            Charset::Unicode => DecorStyle::Unicode,
            Charset::Ascii => DecorStyle::Ascii,
        });
    let level = match fault.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level
        .primary_title(terminal(&fault.message))
        .id(fault.code.text());
    let group = with_place(Group::with_title(title), fault, manifests);
    let group = match &fault.help {
        Some(help) => group.element(Level::HELP.message(terminal(help))),
        None => group,
    };
    renderer.render(&[group]) + "\n\n"
}

/// Adds the line, with the field under it; or only the name of the text where there is no line.
fn with_place<'a>(group: Group<'a>, fault: &Fault, manifests: &Manifests) -> Group<'a> {
    let Some(Place { source, position }) = &fault.place else {
        return group;
    };
    let name = terminal(source);
    let (row, column) = (position.line as usize, position.column as usize);
    let Some(line) = manifests.line(source, position.line).map(replaced) else {
        return group.element(Origin::path(name).line(row).char_column(column));
    };
    let span = token(&line, column.saturating_sub(1));
    let label = terminal(&fault.path.to_string());
    let annotation = AnnotationKind::Primary.span(span);
    let annotation = match fault.path.is_root() {
        true => annotation,
        false => annotation.label(label),
    };
    group.element(
        Snippet::source(line)
            .line_start(row)
            .path(name)
            .annotation(annotation),
    )
}

/// The bytes of the word that begins at a column, counted from 0 in characters.
fn token(line: &str, column: usize) -> std::ops::Range<usize> {
    let start = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let rest = line.get(start..).unwrap_or_default();
    let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''));
    let length = match quote {
        Some(quote) => rest
            .get(1..)
            .and_then(|inner| inner.find(quote))
            .map(|end| end + 2),
        None => rest.find([' ', ',', ']', '}']),
    };
    let word = rest
        .get(..length.unwrap_or(rest.len()))
        .unwrap_or(rest)
        .trim_end();
    let word = word.strip_suffix(':').unwrap_or(word);
    start..start + word.len()
}

/// A fault as an object: what isn't known is null.
pub(crate) fn for_programs(fault: &Fault) -> Value {
    let Fault {
        code,
        severity,
        path,
        message,
        help,
        place,
    } = fault;
    json!({
        "severity": severity.to_string(),
        "code": code.text(),
        "file": place.as_ref().map(|place| place.source.to_string()),
        "line": place.as_ref().map(|place| place.position.line),
        "column": place.as_ref().map(|place| place.position.column),
        "path": path.to_string(),
        "message": message,
        "help": help,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_at_a_column_is_marked() {
        for (line, column, word) in [
            ("  nmae: x", 2, "nmae"),
            ("targets: [a, bc]", 13, "bc"),
            ("a: 'it is' # so", 3, "'it is'"),
            ("a: \"open", 3, "\"open"),
            ("ü: ö", 3, "ö"),
            ("", 0, ""),
            ("short", 99, ""),
        ] {
            assert_eq!(&line[token(line, column)], word, "{line}");
        }
    }
}
