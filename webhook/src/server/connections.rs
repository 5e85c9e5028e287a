//! Who may hold how many connections.
//!
//! Two bounds: on all connections, so that memory is bounded, and on those of one client address, so that a single pod
//! that opens thousands does not shut out the API server.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The connections of one listener.
#[derive(Debug)]
pub(super) struct Connections {
    free: Arc<Semaphore>,
    per_client: usize,
    clients: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection's place; free again when dropped.
#[derive(Debug)]
pub(super) struct Connection {
    connections: Arc<Connections>,
    client: IpAddr,
    _permit: OwnedSemaphorePermit,
}

impl Connections {
    pub(super) fn new(connections: usize, per_client: usize) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS)));
        Arc::new(Self {
            free,
            per_client,
            clients: Mutex::default(),
        })
    }

    /// Waits until there is room for one more connection. Waiting before accepting leaves the rest in the kernel's
    /// backlog, where they cost nothing and are served when somebody leaves.
    pub(super) async fn free(&self) -> OwnedSemaphorePermit {
        Arc::clone(&self.free)
            .acquire_owned()
            .await
            .expect("the semaphore must never be closed")
    }

    /// A place for a connection of `client`, or `None` when it holds too many already.
    pub(super) fn take(
        self: &Arc<Self>,
        permit: OwnedSemaphorePermit,
        client: IpAddr,
    ) -> Option<Connection> {
        let client = client.to_canonical();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let held = clients.entry(client).or_default();
        if *held >= self.per_client {
            return None;
        }
        *held += 1;
        Some(Connection {
            connections: Arc::clone(self),
            client,
            _permit: permit,
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut clients = self
            .connections
            .clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = clients.get_mut(&self.client) {
            *held -= 1;
            if *held == 0 {
                clients.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    async fn take(connections: &Arc<Connections>, client: &str) -> Option<Connection> {
        connections.take(connections.free().await, client.parse().unwrap())
    }

    #[tokio::test]
    async fn one_client_cannot_take_the_places_of_another() {
        let connections = Connections::new(10, 2);
        let first = take(&connections, "10.0.0.1").await.unwrap();
        let _second = take(&connections, "::ffff:10.0.0.1").await.unwrap();
        assert!(take(&connections, "10.0.0.1").await.is_none());
        assert!(take(&connections, "10.0.0.2").await.is_some());
        drop(first);
        assert!(take(&connections, "10.0.0.1").await.is_some());
    }

    #[tokio::test]
    async fn nobody_is_accepted_beyond_the_total() {
        let connections = Connections::new(1, 1);
        let only = take(&connections, "10.0.0.1").await.unwrap();
        assert!(connections.free().now_or_never().is_none());
        drop(only);
        assert!(connections.free().now_or_never().is_some());
        assert!(
            connections.clients.lock().unwrap().is_empty(),
            "a client that left is forgotten"
        );
    }
}
