//! What was measured, beside what it is held against.

use std::fmt::{Display, Formatter};
use std::time::Duration;

/// What a figure is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// It may be so large.
    AtMost(f64),
    /// It must be smaller.
    Below(f64),
    /// It must be so large.
    AtLeast(f64),
    /// Nothing: it is told for the record.
    None,
}

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    what: String,
    found: f64,
    unit: &'static str,
    bound: Bound,
}

impl Figure {
    pub(crate) fn new(what: impl Into<String>, found: f64, unit: &'static str, bound: Bound) -> Self {
        Self {
            what: what.into(),
            found,
            unit,
            bound,
        }
    }

    /// A count.
    pub(crate) fn count(what: impl Into<String>, found: u64, bound: Bound) -> Self {
        Self::new(what, found as f64, "", bound)
    }

    /// A time, in milliseconds.
    pub(crate) fn time(what: impl Into<String>, found: Duration, bound: Bound) -> Self {
        Self::new(what, milliseconds(found), "ms", bound)
    }

    fn verdict(&self) -> &'static str {
        let holds = match self.bound {
            Bound::AtMost(most) => self.found <= most,
            Bound::Below(limit) => self.found < limit,
            Bound::AtLeast(least) => self.found >= least,
            Bound::None => return "",
        };
        if holds { "holds" } else { "MISSED" }
    }
}

/// A time in milliseconds.
pub(crate) fn milliseconds(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}

/// The value below which so many percent of the samples are; the samples are in order.
pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let last = sorted.len().saturating_sub(1);
    sorted.get(last * percent / 100).copied().unwrap_or_default()
}

/// The middle of samples that are in no order.
pub(crate) fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    percentile(&samples, 50)
}

impl Display for Bound {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let text = match self {
            Self::AtMost(most) => format!("at most {}", Number(*most)),
            Self::Below(limit) => format!("below {}", Number(*limit)),
            Self::AtLeast(least) => format!("at least {}", Number(*least)),
            Self::None => String::new(),
        };
        formatter.pad(&text)
    }
}

/// A number with as many digits as tell something.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Self(number) = self;
        let text = match number.abs() {
            _ if number.fract() == 0.0 => format!("{number:.0}"),
            size if size < 10.0 => format!("{number:.3}"),
            size if size < 1_000.0 => format!("{number:.1}"),
            _ => format!("{number:.0}"),
        };
        formatter.pad(&text)
    }
}

/// All figures, by scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table(Vec<(&'static str, Figure)>);

impl Table {
    pub(crate) fn extend(&mut self, scenario: &'static str, figures: Vec<Figure>) {
        self.0
            .extend(figures.into_iter().map(|figure| (scenario, figure)));
    }
}

impl Display for Table {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let widest = |text: fn(&Figure) -> &str| {
            let lengths = self.0.iter().map(|(_, figure)| text(figure).chars().count());
            lengths.max().unwrap_or(0)
        };
        let (what, unit) = (widest(|figure| &figure.what), widest(|figure| figure.unit));
        let mut before = "";
        for (scenario, figure) in &self.0 {
            if *scenario != before {
                writeln!(formatter, "\n{scenario}")?;
                before = scenario;
            }
            let found = Number(figure.found);
            let line = format!(
                "  {:<6}  {:<what$}  {found:>10} {:<unit$}  {}",
                figure.verdict(),
                figure.what,
                figure.unit,
                figure.bound
            );
            writeln!(formatter, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_tells_what_holds_and_what_was_missed() {
        let mut table = Table::default();
        let figures = vec![
            Figure::count("conflicts", 0, Bound::AtMost(0.0)),
            Figure::new("resident", 71.25, "MB", Bound::Below(64.0)),
            Figure::new("creates", 0.9, "", Bound::AtLeast(0.9)),
            Figure::time("the slowest", Duration::from_millis(1_500), Bound::None),
        ];
        table.extend("all live", figures);
        let expected = "
all live
  holds   conflicts             0     at most 0
  MISSED  resident           71.2 MB  below 64
  holds   creates           0.900     at least 0.900
          the slowest        1500 ms
";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn percentiles_are_samples() {
        let samples: Vec<Duration> = (1..=100).map(Duration::from_millis).collect();
        assert_eq!(percentile(&samples, 50), Duration::from_millis(50));
        assert_eq!(percentile(&samples, 100), Duration::from_millis(100));
        assert_eq!(percentile(&[], 99), Duration::ZERO);
    }
}
