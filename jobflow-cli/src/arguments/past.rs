//! Arguments of commands that look at runs of this machine.

use clap::{Args, Subcommand};

use super::Format;

/// List or remove runs of this machine
///
/// Runs are kept in $JOBFLOW_STATE_DIR, $XDG_STATE_HOME/jobflow or ~/.local/state/jobflow, whichever is set first.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the runs, oldest first
    List {
        /// How the list is written
        #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
        output: Format,
    },
    Prune(PruneArguments),
}

/// Remove runs that nobody uses
///
/// A run that goes on stays, whatever is said here.
#[derive(Clone, Debug, Args)]
pub(crate) struct PruneArguments {
    /// How many of the newest runs stay
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) keep: usize,
    /// Remove only runs that began longer ago than this, such as 90m, 12h or 7d
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) older_than: Option<i64>,
    /// Only tell which would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Show how a run of this machine stands
#[derive(Clone, Debug, Args)]
pub(crate) struct StatusArguments {
    /// The run, or the beginning of its name or of its flow's name; the newest run without one
    pub(crate) run: Option<String>,
    /// How the status is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Explain why entries of a run have not ended well, each down to its cause
///
/// For each entry that has not succeeded, or the one named: what it waits for, what that waits for in its turn, down to
/// what holds everything up or went wrong; and what would let it go on.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  jobflow why
  jobflow why train
  jobflow why train --run etl -o json")]
pub(crate) struct WhyArguments {
    /// The entry; all that have not succeeded without one
    pub(crate) node: Option<String>,
    /// The run, or the beginning of its name or of its flow's name; the newest run without one
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// How the explanation is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Show what the tasks of a run wrote
///
/// On a terminal control characters are made visible; in a pipe, and with --raw, the output is exact.
#[derive(Clone, Debug, Args)]
#[command(
    allow_missing_positional = true,
    after_help = "\
Examples:
  jobflow logs train
  jobflow logs train/worker/0 -f
  jobflow logs 20261129T142501Z-etl-k3x9 load --raw > load.log"
)]
pub(crate) struct LogsArguments {
    /// The run, or the beginning of its name or of its flow's name; the newest run without one
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Whose output: an entry, a task of it, one replica of that
    #[arg(required = true, value_name = "NODE[/TASK[/INDEX]]")]
    pub(crate) of: String,
    /// Go on as more is written
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Every byte as it was written, without prefixes
    #[arg(long)]
    pub(crate) raw: bool,
}

/// A number with a unit, in milliseconds.
fn age(text: &str) -> Result<i64, String> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = text.get(..text.len() - unit.len()).unwrap_or_default();
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err("write a number and s, m, h or d, such as 7d".to_owned()),
    };
    let number: i64 = number
        .parse()
        .map_err(|_| "the number is missing or too large".to_owned())?;
    Ok(number.saturating_mul(seconds).saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_number_with_a_unit() {
        assert_eq!(age("90m"), Ok(5_400_000));
        assert_eq!(age("7d"), Ok(604_800_000));
        assert_eq!(age("9999999999999999h"), Ok(i64::MAX));
        for bad in ["", "7", "d", "-1d", "99999999999999999999d", "1 d"] {
            assert!(age(bad).is_err(), "{bad}");
        }
    }
}
