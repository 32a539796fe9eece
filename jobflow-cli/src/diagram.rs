//! A shape of a flow as a drawing: one file a format.
//!
//! Text and SVG share one layout; Graphviz and Mermaid make their own.

mod dot;
mod layout;
mod mermaid;
mod svg;
mod text;

pub(crate) use dot::dot;
pub(crate) use mermaid::mermaid;
pub(crate) use svg::svg;
pub(crate) use text::text;

use crate::shape::{Shape, Wait};

/// The arrows of a shape: from what is waited for to what waits, by position.
fn arrows(shape: &Shape) -> impl Iterator<Item = (usize, usize, &Wait)> {
    let waits = shape
        .entries
        .iter()
        .enumerate()
        .flat_map(|(at, entry)| entry.waits.iter().map(move |wait| (at, wait)));
    waits.filter_map(|(at, wait)| Some((shape.position(&wait.target)?, at, wait)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::Charset;
    use crate::escape::{HOSTILE, is_harmful};

    fn shape(text: &str) -> Shape {
        let reading = jobflow_k8s::yaml::read("flow.yaml", text);
        Shape::of(&reading.documents[0]).unwrap()
    }

    fn all_kinds() -> Shape {
        shape(
            "apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: nightly}
spec:
  flows:
    - name: load
    - {name: decide, switch: {on: 'true', cases: [{value: big, then: [train]}], default: [small]}, dependsOn: {targets: [load]}}
    - {name: train, forEach: {range: 3}}
    - {name: small, flow: {template: other}}
    - {name: alarm, dependsOn: {targets: [load], condition: Failed}}
  finally:
    - name: clean
",
        )
    }

    #[test]
    fn a_flow_with_all_kinds_of_entries_is_drawn_in_every_format() {
        let shape = all_kinds();
        insta::assert_snapshot!("text", text(&shape, Charset::Unicode, usize::MAX));
        insta::assert_snapshot!("ascii", text(&shape, Charset::Ascii, usize::MAX));
        insta::assert_snapshot!("dot", dot(&shape));
        insta::assert_snapshot!("mermaid", mermaid(&shape));
        insta::assert_snapshot!("svg", svg(&shape));
    }

    #[test]
    fn nothing_that_a_name_holds_gets_out_of_its_label() {
        for hostile in HOSTILE {
            let mut shape = all_kinds();
            for entry in &mut shape.entries {
                if entry.name == "load" {
                    entry.name = hostile.to_owned();
                }
                for wait in &mut entry.waits {
                    if wait.target == "load" {
                        wait.target = hostile.to_owned();
                    }
                    wait.label = hostile.to_owned();
                }
            }
            shape.name = hostile.to_owned();
            for drawing in [
                text(&shape, Charset::Unicode, usize::MAX),
                dot(&shape),
                mermaid(&shape),
                svg(&shape),
            ] {
                let plain = drawing.replace('\n', "");
                assert!(!plain.contains(is_harmful), "{hostile:?}: {drawing}");
                assert!(!drawing.contains("\nclick"), "{drawing}");
            }
            for markup in [mermaid(&shape), svg(&shape)] {
                assert!(!markup.contains("<script") && !markup.contains("<a "), "{markup}");
            }
        }
    }

    #[test]
    fn a_wide_flow_is_drawn_from_left_to_right() {
        let entries: String = (0..9).map(|at| format!("  - {{name: part-{at}}}\n")).collect();
        let drawn = text(
            &shape(&format!(
                "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {{name: a}}\nspec:\n  flows:\n{entries}"
            )),
            Charset::Ascii,
            60,
        );
        assert!(drawn.lines().all(|line| line.len() <= 60), "{drawn}");
        assert_eq!(drawn.matches("part-").count(), 9);
    }

    #[test]
    fn an_empty_flow_is_drawn() {
        let shape = Shape::default();
        assert_eq!(text(&shape, Charset::Unicode, usize::MAX), "(no entries)\n");
        assert!(svg(&shape).ends_with("</svg>\n"));
    }

    #[test]
    fn a_thousand_entries_are_drawn() {
        let entries: String = (1..1000)
            .map(|at| format!("  - {{name: n{at}, dependsOn: {{targets: [n{}]}}}}\n", at / 2))
            .collect();
        let text = format!(
            "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {{name: a}}\nspec:\n  flows:\n  - name: n0\n{entries}"
        );
        assert_eq!(svg(&shape(&text)).matches("<rect").count(), 1000);
    }
}
