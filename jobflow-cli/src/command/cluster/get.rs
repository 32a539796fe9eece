//! `kubectl jobflow get`: how one flow stands.

use crate::arguments::cluster::{GetArguments, ObjectFormat};
use crate::cluster::flow::Flow;
use crate::cluster::{Cluster, kinds};
use crate::console::Console;
use crate::display::{Size, frame};
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::now;
use crate::standing::Standing;

/// Shows one flow.
pub(crate) async fn run(
    arguments: &GetArguments,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let flow = Flow::find(cluster, &arguments.flow).await?;
    let printed = || kinds::printed(&flow.object, &kinds::flows());
    match arguments.output {
        ObjectFormat::Json => console.data(&escape::json(&printed()))?,
        ObjectFormat::Yaml => console.data(&escape::yaml(&printed()))?,
        ObjectFormat::Name => console.data(&format!(
            "jobflow.flow.volcano.sh/{}\n",
            escape::terminal(flow.name())
        ))?,
        ObjectFormat::Text | ObjectFormat::Wide => {
            show(&flow, arguments.output == ObjectFormat::Wide, console)?
        }
    }
    Ok(Exit::Succeeded)
}

/// Draws it as `run` draws a run; wide lines are not cut.
pub(crate) fn show(flow: &Flow, wide: bool, console: &mut Console) -> Result<(), Failure> {
    let standing = Standing::of_flow(flow.readable()?, now());
    let size = Size {
        width: if wide { usize::MAX } else { console.data_width() },
        height: None,
        charset: console.charset(),
    };
    console.data(&(frame(&standing, size).join("\n") + "\n"))
}
