//! Tests of failures on the node of the cluster, beneath sluice. They are a step of their own in `tests/run`, because nothing can run beside them; by
//! hand: `cargo test --workspace --test it -- --ignored node::`, against the cluster of `make cluster`.

mod api_server; // the API server ends and starts again
mod clock; // the clock of the replicas is wrong
mod hostile; // a client on the pod network that is no gate
mod packets; // nothing arrives any more, on one connection or on all
mod power; // everything ends at once
