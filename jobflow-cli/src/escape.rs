//! One escaper a format: foreign text goes in, text that can do no harm there comes out.
//!
//! No control character, markup or link but our own passes. Names that are plain come out as they are.

mod dot;
mod json;
mod markdown;
mod mermaid;
mod svg;
mod terminal;

pub(crate) use dot::dot;
#[cfg(feature = "cluster")]
pub(crate) use json::json_line;
pub(crate) use json::{json, yaml};
pub(crate) use markdown::markdown;
pub(crate) use mermaid::mermaid;
pub(crate) use svg::svg;
pub(crate) use terminal::{is_harmful, replaced, terminal};

#[cfg(test)]
pub(crate) const HOSTILE: [&str; 8] = [
    "\u{1b}[31mred\u{1b}]0;title\u{7}",
    "a\nb\r\tc\0",
    "\u{9b}31m",
    "<script>alert(1)</script> & <a href='x'>",
    "\"]; evil [label=\"x",
    "a --> b\nclick a \"javascript:alert(1)\"",
    "\u{202e}desrever\u{2066}",
    "`code` [link](http://example.org) |cell|",
];
