//! A test of a server that runs on the threads of a runtime of its own.

use super::*;
use crate::tasks::Tasks;
use futures::FutureExt;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;
use tokio::runtime::Builder;

#[test]
fn a_server_on_threads_of_its_own_answers_while_all_the_others_are_held_up() {
    let own = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let rest = Builder::new_current_thread().enable_all().build().unwrap();
    rest.block_on(async {
        let (server, _) = server(ServerLimits::admission());
        let listener = {
            let _entered = own.enter();
            server.listen(0).unwrap()
        };
        let port = listener.local_addr().unwrap().port();
        let (spawner, mut servers) = Tasks::new();
        spawner.keep_on(own.handle(), "server", server.serve(listener, router()));
        assert!(servers.ended().now_or_never().is_none());
        // From here on the test blocks the only thread of the other runtime.
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.write_all(GET).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
    });
}
