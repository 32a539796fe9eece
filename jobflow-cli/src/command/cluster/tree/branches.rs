//! A tree as lines. Texts are escaped here.

use crate::console::Charset;
use crate::escape;

/// A line, and what is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    /// The line.
    pub(super) text: String,
    /// What is below it.
    pub(super) below: Vec<Self>,
}

/// The lines of a tree.
pub(super) fn drawn(tree: &Branch, charset: Charset) -> String {
    let mut lines = escape::terminal(&tree.text) + "\n";
    below(tree, "", charset, &mut lines);
    lines
}

fn below(branch: &Branch, indent: &str, charset: Charset, lines: &mut String) {
    let (fork, end, pass) = match charset {
        Charset::Unicode => ("├─ ", "└─ ", "│  "),
        Charset::Ascii => ("|- ", "`- ", "|  "),
    };
    let last = branch.below.len().saturating_sub(1);
    for (at, child) in branch.below.iter().enumerate() {
        let (here, further) = if at == last { (end, "   ") } else { (fork, pass) };
        lines.push_str(&format!("{indent}{here}{}\n", escape::terminal(&child.text)));
        below(child, &format!("{indent}{further}"), charset, lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_hang_below_what_they_belong_to() {
        let leaf = |text: &str| Branch {
            text: text.to_owned(),
            below: Vec::new(),
        };
        let tree = Branch {
            text: "a".to_owned(),
            below: vec![
                Branch {
                    text: "b".to_owned(),
                    below: vec![leaf("c"), leaf("d\n")],
                },
                leaf("e"),
            ],
        };
        assert_eq!(
            drawn(&tree, Charset::Unicode),
            "a\n├─ b\n│  ├─ c\n│  └─ d\\u{a}\n└─ e\n"
        );
        assert_eq!(
            drawn(&tree, Charset::Ascii),
            "a\n|- b\n|  |- c\n|  `- d\\u{a}\n`- e\n"
        );
    }
}
