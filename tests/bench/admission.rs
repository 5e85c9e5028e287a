//! What admission costs: by itself, and as a part of a request to the API server.

use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::table::Table;
use anyhow::{Context, Result, bail};
use harness::samples::Samples;
use harness::unscheduled::pod;
use k8s_openapi::api::core::v1::Pod;
use rules::keys::DEPENDS_ON;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The size of the pod, in bytes.
const SIZE: usize = 6000;

/// The same pod with and without a list, in turns, to the API server of a cluster that sluice is installed in.
pub(crate) async fn at_the_api_server(
    cluster: &Cluster,
    pods: usize,
    table: &mut Table,
) -> Result<()> {
    let read = |value| serde_json::from_value::<Pod>(value);
    let gated = read(pod(&json!({DEPENDS_ON: "configmap/dependency"}), SIZE))?;
    let plain = read(pod(
        &json!({"example.com/note": "configmap/dependency"}),
        SIZE,
    ))?;
    let (mut with, mut without) = (vec![], vec![]);
    for round in 0..pods + 20 {
        for (pod, took) in [(&plain, &mut without), (&gated, &mut with)] {
            let began = Instant::now();
            cluster.rehearse(pod).await?;
            // The first ones open connections.
            if round >= 20 {
                took.push(began.elapsed());
            }
        }
    }
    let (with, without) = (Samples::new(with), Samples::new(without));
    let how = format!(
        "POST of a 6 kB Pod with dryRun=All, {pods} in turns with the other sort, the installed sluice"
    );
    table.row("API server, creation of a gated Pod", &with, &how);
    table.row(
        "API server, creation of a Pod without annotation",
        &without,
        &how,
    );
    let cost = with.percentile(50).saturating_sub(without.percentile(50));
    table.row(
        "API server, what the gate adds",
        cost,
        "difference of the two lines above",
    );
    Ok(())
}

/// Reviews of a pod on one connection that is kept.
pub(crate) async fn over_tls(
    controller: &Controller,
    count: usize,
    table: &mut Table,
) -> Result<()> {
    let mut reviews = Reviews::begin(controller)?;
    let took = tokio::task::spawn_blocking(move || (0..count).map(|_| reviews.next()).collect());
    let took: Result<_> = took.await?;
    let how = format!("{count} AdmissionReviews of a 6 kB Pod on one TLS connection on loopback");
    table.row("admission over TLS", &Samples::new(took?), &how);
    Ok(())
}

/// A connection that is kept, and the request that is sent on it again and again.
pub(crate) struct Reviews {
    connection: Connection,
    request: String,
}

impl Reviews {
    pub(crate) fn begin(controller: &Controller) -> Result<Self> {
        let (body, name) = (review().to_string(), &controller.name);
        let request = format!(
            "POST /admit/pods HTTP/1.1\r\nHost: {name}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let connection = connect(controller)?;
        Ok(Self {
            connection,
            request,
        })
    }

    /// How long one takes. It blocks.
    pub(crate) fn next(&mut self) -> Result<Duration> {
        let began = Instant::now();
        let stream = self.connection.get_mut();
        stream.write_all(self.request.as_bytes())?;
        stream.flush()?;
        let answer = answer(&mut self.connection)?;
        let took = began.elapsed();
        if !answer.windows(12).any(|part| part == b"\"patchType\":") {
            bail!("no patch: {}", String::from_utf8_lossy(&answer));
        }
        Ok(took)
    }
}

fn review() -> Value {
    let object = pod(&json!({DEPENDS_ON: "configmap/dependency"}), SIZE);
    let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
    let request = json!({
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "kind": kind, "namespace": "shop", "name": "",
        "operation": "CREATE", "object": object, "oldObject": null, "dryRun": false,
    });
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
}

type Connection = BufReader<StreamOwned<ClientConnection, TcpStream>>;

fn connect(controller: &Controller) -> Result<Connection> {
    let name = ServerName::try_from(controller.name.clone())?;
    let session = ClientConnection::new(Arc::new(trusting(&controller.bundle)?), name)?;
    let stream = TcpStream::connect(controller.admission)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    Ok(BufReader::new(StreamOwned::new(session, stream)))
}

/// A client that trusts a bundle, PEM.
pub(crate) fn trusting(bundle: &str) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
        roots.add(certificate.context("the bundle cannot be read")?)?;
    }
    let config = ClientConfig::builder().with_root_certificates(roots);
    Ok(config.with_no_client_auth())
}

/// One answer with a length, as admission gives it.
fn answer(connection: &mut Connection) -> Result<Vec<u8>> {
    let mut line = String::new();
    connection.read_line(&mut line)?;
    if !line.starts_with("HTTP/1.1 200 ") {
        bail!("admission answers {line:?}");
    }
    let mut length = None;
    while line != "\r\n" {
        line.clear();
        connection.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = Some(value.trim().parse()?);
        }
    }
    let mut body = vec![0; length.context("an answer without a length")?];
    connection.read_exact(&mut body)?;
    Ok(body)
}
