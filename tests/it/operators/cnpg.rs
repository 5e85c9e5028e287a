use super::{beside_operators, read, time, upgraded};
use harness::cluster::{Manifest, Namespace, items, job, other};
use jiff::Timestamp;
use serde_json::{Value, json};

/// A gate opens only once the database runs with its new settings. The operator reports no generation: for half a second after a change its status is
/// that of the settings before.
#[tokio::test]
#[ignore = "needs a cluster with the operators"]
async fn opens_only_once_the_database_is_back() {
    beside_operators("cnpg", async |ns| {
        volume(ns).await;
        let (list, class) = ("cluster.postgresql.cnpg.io/main", ns.name.clone());
        let database = |version| database(version, &class);
        upgraded(ns, list, database, async |version| back(ns, version).await).await;
    })
    .await;
}

/// Returns a database of one instance. Each version has other settings, for which the operator restarts the instance.
fn database(version: usize, class: &str) -> Manifest {
    let buffers = format!("{}MB", 32 + version);
    other(json!({
        "apiVersion": "postgresql.cnpg.io/v1",
        "kind": "Cluster",
        "metadata": {"name": "main"},
        "spec": {
            "instances": 1,
            "imageName": "localhost/postgresql:15.18",
            "storage": {"size": "1Gi", "storageClass": class},
            "postgresql": {"parameters": {"shared_buffers": buffers}},
        },
    }))
}

/// Makes a volume on the node that the database may write to.
async fn volume(ns: &Namespace) {
    let (class, path) = (&ns.name, format!("/tmp/{}", ns.name));
    let volume = json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": class},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class,
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": path, "type": "DirectoryOrCreate"},
        },
    });
    ns.takes_along(&format!("persistentvolume/{class}"));
    let mount = json!([{"name": "data", "mountPath": "/data"}]);
    let host = json!([{"name": "data", "hostPath": {"path": path, "type": "DirectoryOrCreate"}}]);
    let opened = job("opened")
        .runs("chmod 777 /data")
        .in_app("/volumeMounts", mount)
        .in_pod("/spec/volumes", host);
    ns.apply([other(volume), opened]).await.ok();
    let done = |job: &Value| job["status"]["succeeded"] == 1;
    ns.until("job/opened", "is done", done).await;
}

/// Returns the time since which the operator reports the database as ready, with the settings of this version in its spec; else the cause why not.
async fn back(ns: &Namespace, version: usize) -> Result<Timestamp, String> {
    let cluster = read(ns, "cluster.postgresql.cnpg.io/main").await;
    let wanted = format!("{}MB", 32 + version);
    assert_eq!(
        cluster["spec"]["postgresql"]["parameters"]["shared_buffers"],
        *wanted
    );
    let mut conditions = items(&cluster, "/status/conditions").iter();
    let ready = conditions.find(|it| it["type"] == "Ready" && it["status"] == "True");
    let since = ready.and_then(|it| time(it, "/lastTransitionTime"));
    since.ok_or_else(|| format!("{:#}", cluster["status"]["phase"]))
}
