use crate::cluster::documented::{complaints, with};
use crate::docs::Stage;
use harness::cluster::alone;
use tokio::task::spawn_blocking;

/// The commands of the documentation about the whole cluster give their printed output. They run alone, because other tests would change the output.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_pages_hold_while_nobody_else_is_there() {
    alone("documented", async |_| {
        let ran = spawn_blocking(|| complaints(Stage::Alone, &with(Stage::Alone))).await;
        let complaints = ran.expect("it ends");
        assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
    })
    .await;
}
