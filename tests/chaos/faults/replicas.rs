//! Replicas that end, roll, or begin all at once.

use crate::trial::{Admission, Broken, Trial};
use crate::watched::PROGRAM;
use harness::cluster::sluice;
use harness::machine;
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio::time::sleep;

/// The pause between two kills: by then the kubelet has started the container again and the container is ready.
const APART: Duration = Duration::from_secs(12);

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::of("nothing", Admission::Open, |_| Box::pin(nothing())),
        Trial::of("a replica is killed (SIGKILL)", Admission::Open, |_| {
            Box::pin(killed())
        }),
        Trial::of("sluice is rolled", Admission::Open, |_| Box::pin(rolled())),
        Trial {
            gates: 500,
            ..Trial::of(
                "every replica is deleted at once, by force",
                Admission::Interrupted,
                |_| Box::pin(gone()),
            )
        },
    ]
}

/// Returns the trials that remove sluice and install it again, which must come last: gates from before would trust no new certificate.
pub(crate) fn last() -> Vec<Trial> {
    vec![Trial {
        gates: 0,
        ..Trial::of(
            "five replicas begin at once where nothing was",
            Admission::Interrupted,
            |_| Box::pin(five()),
        )
    }]
}

async fn nothing() -> Broken {
    sleep(APART).await;
    Broken::times(1)
}

async fn killed() -> Broken {
    const TIMES: usize = 4;
    for turn in 0..TIMES {
        let mut replicas = machine::contained(PROGRAM).expect("/proc can be read");
        replicas.sort_unstable();
        // The one that runs longest, so that no container is held back for having ended twice in a row.
        let pid = replicas.first().expect("a replica runs").to_string();
        let kill = Command::new("kill").args(["-9", &pid]).status().await;
        assert!(kill.is_ok_and(|it| it.success()), "kill {pid}");
        sleep(APART * if turn < 1 { 1 } else { 2 }).await;
    }
    Broken {
        ended: TIMES as u64,
        ..Broken::times(TIMES)
    }
}

async fn rolled() -> Broken {
    const TIMES: usize = 3;
    for _ in 0..TIMES {
        sluice::roll().await;
    }
    Broken::times(TIMES)
}

async fn gone() -> Broken {
    const TIMES: usize = 2;
    let mut longest = Duration::ZERO;
    for _ in 0..TIMES {
        let began = Instant::now();
        sluice::delete_all_by_force().await;
        sluice::start().await;
        longest = longest.max(began.elapsed());
    }
    Broken::times(TIMES).seen(format!("ready again after {longest:.1?}"))
}

async fn five() -> Broken {
    sluice::installed_after(async |release| {
        release.uninstall().await.ok();
        release.install_with(&["--set", "replicas=5"]).await;
        let made = sluice::log().await.matches("Wrote the CA").count();
        assert_eq!(made, 1, "CAs were made");
        release.install().await;
    })
    .await;
    Broken::times(1).seen("one CA")
}
