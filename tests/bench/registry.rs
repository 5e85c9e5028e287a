//! A registry of images for tests, in which every pull of an image takes a chosen time.

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The host in the names of the images. No resolver knows such a name (RFC 6761).
pub(crate) const HOST: &str = "registry.invalid";

/// The script that makes images without a container engine.
const MAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../cluster/mkoci.py");

/// A registry, which serves what the OCI distribution specification asks of a pull.
pub(crate) struct Registry {
    address: SocketAddr,
    images: Arc<Images>,
    /// The task that serves. It ends when this is dropped.
    _serving: JoinSet<()>,
}

struct Images {
    /// The folder of the images: one folder for each, in the OCI image layout.
    folder: tempfile::TempDir,
    /// The time for which the registry delays the layer of an image.
    pull: Duration,
}

impl Registry {
    /// Starts a registry at a free port of this address of the machine. Each pull of an image takes `pull`.
    pub(crate) async fn start(machine: IpAddr, pull: Duration) -> Result<Self> {
        let listener = TcpListener::bind((machine, 0)).await?;
        let address = listener.local_addr()?;
        let folder = tempfile::tempdir().context("failed to make a folder for images")?;
        let images = Arc::new(Images { folder, pull });
        let router = Router::new()
            .fallback(serve)
            .with_state(Arc::clone(&images));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            // It only ends with the task.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self {
            address,
            images,
            _serving: serving,
        })
    }

    /// The URL of the registry.
    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Makes an image with a layer that no other image has, whose program sleeps for 1000 seconds, and returns its name, `registry.invalid/NAME:1`.
    pub(crate) async fn image(&self, name: &str) -> Result<String> {
        let image = format!("{HOST}/{name}:1");
        let folder = self.images.folder.path().join(name);
        fs::create_dir(&folder)?;
        let (own, archive) = (folder.join("name"), folder.join("image.tar"));
        fs::write(&own, name)?;
        let named = format!("{}=/name", own.display());
        let entry = r#"["/bin/busybox", "sleep", "1000"]"#;
        let mut make = Command::new(MAKE);
        make.arg(&archive)
            .args([&image, entry, "/bin/busybox=/bin/busybox", &named]);
        run(make).await?;
        let mut unpack = Command::new("tar");
        unpack.arg("-xf").arg(&archive).arg("-C").arg(&folder);
        run(unpack).await?;
        Ok(image)
    }
}

async fn run(mut command: Command) -> Result<()> {
    let status = command.status().await?;
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    Ok(())
}

/// Answers `/v2/`, `/v2/NAME/manifests/REFERENCE` and `/v2/NAME/blobs/DIGEST`, and 404 to every other path. A layer is sent only after the time of a
/// pull.
async fn serve(State(images): State<Arc<Images>>, uri: Uri) -> Response {
    let parts: Vec<&str> = uri.path().trim_matches('/').split('/').collect();
    match parts[..] {
        ["v2"] => StatusCode::OK.into_response(),
        ["v2", name, "manifests", reference] => images.manifest(name, reference).into_response(),
        ["v2", name, "blobs", digest] => {
            if images.is_layer(name, digest) {
                sleep(images.pull).await;
            }
            let blob = fs::read(images.blob(name, digest));
            blob.map_err(|_| StatusCode::NOT_FOUND).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

impl Images {
    fn blob(&self, name: &str, digest: &str) -> PathBuf {
        let blobs = self.folder.path().join(name).join("blobs");
        blobs.join(digest.replace(':', "/"))
    }

    /// Returns the description of the one image in the folder `name`, from the index of its OCI layout; `None` where there is no such image.
    fn described(&self, name: &str) -> Option<Value> {
        let index = read(&self.folder.path().join(name).join("index.json"))?;
        Some(index["manifests"][0].clone())
    }

    /// Returns the manifest of an image by its tag or its digest, with the headers for its media type and its digest. Every tag names the one image;
    /// another digest is not found.
    fn manifest(&self, name: &str, reference: &str) -> Result<impl IntoResponse, StatusCode> {
        let described = self.described(name).ok_or(StatusCode::NOT_FOUND)?;
        let text = |field: &str| described[field].as_str().unwrap_or_default().to_owned();
        let (digest, media) = (text("digest"), text("mediaType"));
        if reference.contains(':') && reference != digest {
            return Err(StatusCode::NOT_FOUND);
        }
        let blob = fs::read(self.blob(name, &digest)).map_err(|_| StatusCode::NOT_FOUND)?;
        let about = [
            (header::CONTENT_TYPE, media),
            (
                header::HeaderName::from_static("docker-content-digest"),
                digest,
            ),
        ];
        Ok((about, blob))
    }

    fn is_layer(&self, name: &str, digest: &str) -> bool {
        let described = self.described(name);
        let manifest = described.and_then(|it| read(&self.blob(name, it["digest"].as_str()?)));
        manifest.is_some_and(|manifest| {
            let mut layers = manifest["layers"].as_array().into_iter().flatten();
            layers.any(|layer| layer["digest"] == digest)
        })
    }
}

fn read(path: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
