//! One picture of a run as lines that fit.
//!
//! ```text
//! nightly  Running  1/3  5s
//!   ✔ prepare  Succeeded  2s  main 1/1
//!   ● count    Running    3s  main 0/2, 2 running
//!   · report   Waiting        waits for count
//! ```

use jobflow_core::NodePhase;
use jobflow_core::snapshot::TaskCount;

use super::marks::{flow_style, mark, style};
use crate::console::Charset;
use crate::escape;
use crate::standing::{Row, Standing};
use crate::table::span;

/// How much fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Columns.
    pub(crate) width: usize,
    /// Lines; none where all of them are wanted.
    pub(crate) height: Option<usize>,
    /// Which characters there are.
    pub(crate) charset: Charset,
}

/// Draws a run: styled lines, none wider or more than fit.
pub(crate) fn frame(standing: &Standing, size: Size) -> Vec<String> {
    let shown = chosen(&standing.rows, size.height.map(|height| height.saturating_sub(2)));
    let mut lines = vec![head(standing, size)];
    let name_width = width(&shown, |row| escape::terminal(&row.name).chars().count());
    let phase_width = width(&shown, |row| row.phase.as_str().len());
    let took_width = width(&shown, |row| took(row).len());
    for row in &shown {
        let text = format!(
            "{:name_width$}  {:phase_width$}  {:took_width$}  {}",
            escape::terminal(&row.name),
            row.phase,
            took(row),
            details(row)
        );
        let (on, mark) = (style(row.phase), mark(row.phase, size.charset));
        let text = cut(text.trim_end(), size.width.saturating_sub(5), size.charset);
        lines.push(format!("  {on}{mark}{on:#} {text}"));
    }
    if shown.len() < standing.rows.len() {
        lines.push(format!("  and {} more", standing.rows.len() - shown.len()));
    }
    lines
}

fn head(standing: &Standing, size: Size) -> String {
    let phase = flow_style(standing.phase).bold();
    let rest = format!(
        "  {}/{}  {}",
        standing.done(),
        standing.rows.len(),
        span(standing.took)
    );
    let name = escape::terminal(&standing.flow);
    let room = size
        .width
        .saturating_sub(standing.phase.as_str().len() + rest.len() + 3);
    format!(
        "{}  {phase}{}{phase:#}{rest}",
        cut(&name, room, size.charset),
        standing.phase
    )
}

/// The rows that matter most where not all fit, in the order of the spec.
fn chosen(rows: &[Row], most: Option<usize>) -> Vec<&Row> {
    let most = most.unwrap_or(rows.len());
    let mut order: Vec<(usize, &Row)> = rows.iter().enumerate().collect();
    if rows.len() > most {
        order.sort_by_key(|(at, row)| (rank(row.phase), *at));
        order.truncate(most);
        order.sort_by_key(|(at, _)| *at);
    }
    order.into_iter().map(|(_, row)| row).collect()
}

/// What is looked at first.
const fn rank(phase: NodePhase) -> u8 {
    match phase {
        NodePhase::Failed => 0,
        NodePhase::Running | NodePhase::Stopping | NodePhase::Paused => 1,
        NodePhase::Submitting | NodePhase::Queued | NodePhase::BackingOff | NodePhase::Blocked => 2,
        NodePhase::Waiting => 3,
        NodePhase::Cancelled => 4,
        NodePhase::Succeeded | NodePhase::Skipped => 5,
    }
}

fn width(rows: &[&Row], of: impl Fn(&Row) -> usize) -> usize {
    rows.iter().map(|row| of(row)).max().unwrap_or(0)
}

fn took(row: &Row) -> String {
    row.took.map(span).unwrap_or_default()
}

/// Pods, attempt, exit code and reason, as far as there is something to say.
fn details(row: &Row) -> String {
    let mut parts: Vec<String> = row.tasks.iter().map(pods).collect();
    if row.attempt > 1 {
        parts.push(format!("attempt {}", row.attempt));
    }
    if let Some(code) = row.exit_code {
        parts.push(format!("exit code {code}"));
    }
    if !row.why.is_empty() {
        parts.push(escape::terminal(&row.why));
    }
    parts.join("; ")
}

fn pods(count: &TaskCount) -> String {
    let counts = count.counts;
    let mut text = format!(
        "{} {}/{}",
        escape::terminal(&count.task),
        counts.succeeded,
        count.replicas
    );
    for (number, what) in [(counts.running, "running"), (counts.failed, "failed")] {
        if number > 0 {
            text.push_str(&format!(", {number} {what}"));
        }
    }
    text
}

/// The beginning of a text, where the whole doesn't fit.
fn cut(text: &str, room: usize, charset: Charset) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mark = match charset {
        Charset::Unicode => "…",
        Charset::Ascii => "...",
    };
    let kept = room.saturating_sub(mark.chars().count());
    text.chars().take(kept).collect::<String>() + mark
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use jobflow_core::FlowPhase;
    use jobflow_core::snapshot::PodCounts;

    use super::*;

    fn row(name: &str, phase: NodePhase, took: Option<i64>, why: &str) -> Row {
        Row {
            name: name.to_owned(),
            phase,
            attempt: 1,
            took,
            tasks: Vec::new(),
            exit_code: None,
            why: why.to_owned(),
        }
    }

    fn nightly() -> Standing {
        let counts = PodCounts {
            running: 2,
            succeeded: 1,
            ..PodCounts::default()
        };
        let count = TaskCount {
            task: "main".into(),
            replicas: 3,
            counts,
        };
        let rows = vec![
            row("prepare", NodePhase::Succeeded, Some(2000), ""),
            Row {
                tasks: vec![count],
                attempt: 2,
                ..row("count", NodePhase::Running, Some(61_000), "")
            },
            Row {
                exit_code: Some(3),
                ..row(
                    "check",
                    NodePhase::Failed,
                    Some(500),
                    "the job failed; \u{1b}[31mred",
                )
            },
            row("report", NodePhase::Waiting, None, "waits for count and 1 more"),
        ];
        Standing {
            flow: "nightly".into(),
            run: "r".into(),
            phase: FlowPhase::Running,
            took: 63_000,
            rows,
        }
    }

    fn drawn(size: Size) -> String {
        let lines: Vec<String> = frame(&nightly(), size)
            .iter()
            .map(|line| strip_str(line).to_string())
            .collect();
        lines.join("\n")
    }

    const WIDE: Size = Size {
        width: 100,
        height: None,
        charset: Charset::Unicode,
    };

    #[test]
    fn a_run_is_drawn_with_all_that_is_known() {
        insta::assert_snapshot!("whole", drawn(WIDE));
        insta::assert_snapshot!(
            "ascii",
            drawn(Size {
                charset: Charset::Ascii,
                ..WIDE
            })
        );
    }

    #[test]
    fn no_line_is_wider_and_there_are_no_more_than_fit() {
        for width in [20, 33, 50] {
            for height in [3, 4, 9] {
                let text = drawn(Size {
                    width,
                    height: Some(height),
                    ..WIDE
                });
                assert!(text.lines().count() <= height, "{text}");
                assert!(
                    text.lines().all(|line| line.chars().count() < width.max(30)),
                    "{width}: {text}"
                );
            }
        }
    }

    #[test]
    fn failures_and_what_runs_stay_where_not_all_fits() {
        let text = drawn(Size {
            height: Some(4),
            ..WIDE
        });
        assert!(
            text.contains("count") && text.contains("check") && text.contains("and 2 more"),
            "{text}"
        );
    }
}
