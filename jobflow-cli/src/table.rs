//! Rows of texts, aligned.

use crate::escape;

/// Lines with columns as wide as their widest cell, two blanks apart; the texts are made harmless.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| escape::terminal(cell)).collect())
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let length = |cell: &String| cell.chars().count();
    let widths: Vec<usize> = (0..columns)
        .map(|at| {
            rows.iter()
                .filter_map(|row| row.get(at))
                .map(length)
                .max()
                .unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths);
        let padded: Vec<String> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// A length of time in its two largest units.
pub(crate) fn span(milliseconds: i64) -> String {
    let seconds = milliseconds.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [
            vec!["a".to_owned(), "b".to_owned()],
            vec!["cöc".to_owned(), "\u{1b}".to_owned()],
        ];
        assert_eq!(table(&rows), "a    b\ncöc  \\u{1b}\n");
        assert_eq!(table(&[]), "");
    }

    #[test]
    fn a_span_has_two_units() {
        let spans = [-5, 59_999, 60_000, 3_661_000, 90_000_000].map(span);
        assert_eq!(spans, ["0s", "59s", "1m00s", "1h01m", "1d01h"]);
    }
}
