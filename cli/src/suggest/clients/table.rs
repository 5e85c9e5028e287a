//! The clients of stores and brokers, and how each is told where to look.

use crate::suggest::wait::{Asks, usual_port};

/// How a client is told where to look.
pub(super) struct Client {
    pub(super) programs: &'static [&'static str],
    /// The options that give the address.
    pub(super) options: &'static [&'static str],
    /// Whether the client's first argument may give the address.
    pub(super) first: bool,
    /// The variables that give the address where no argument does.
    pub(super) variables: &'static [&'static str],
    pub(super) asks: Asks,
}

impl Client {
    /// The port that the client takes where none is named; empty where that is not known.
    pub(super) fn port(&self) -> &'static str {
        match self.programs[0] {
            "pg_isready" => usual_port("postgres"),
            "mysql" => usual_port("mysql"),
            "redis-cli" => usual_port("redis"),
            "mongo" => usual_port("mongodb"),
            "cqlsh" => "9042",
            "etcdctl" => "2379",
            "zookeeper-shell" => "2181",
            _ => "",
        }
    }
}

/// The clients that are told by an option, an argument or a variable.
pub(super) const CLIENTS: [Client; 24] = [
    client(
        &["pg_isready", "psql", "pg_dump"],
        &["-h", "--host", "-d", "--dbname"],
        true,
        &["PGHOST"],
        Asks::Protocol,
    ),
    client(
        &[
            "mysql",
            "mysqladmin",
            "mariadb",
            "mariadb-admin",
            "mysqlshow",
        ],
        &["-h", "--host"],
        false,
        &["MYSQL_HOST"],
        Asks::Protocol,
    ),
    client(
        &["redis-cli", "valkey-cli"],
        &["-h", "-u"],
        false,
        &[],
        Asks::Protocol,
    ),
    client(
        &["mongo", "mongosh"],
        &["--host"],
        true,
        &[],
        Asks::Protocol,
    ),
    client(
        &[
            "kafka-topics",
            "kafka-broker-api-versions",
            "kafka-configs",
            "kafka-cluster",
            "kafka-metadata-quorum",
            "kafka-consumer-groups",
            "kafka-console-producer",
            "kafka-console-consumer",
            "kafka-get-offsets",
            "kafka-run-class",
        ],
        &[
            "--bootstrap-server",
            "--bootstrap-servers",
            "--bootstrap-controller",
            "--broker-list",
            "--zookeeper",
        ],
        false,
        &[],
        Asks::Protocol,
    ),
    client(
        &["kcat", "kafkacat", "cub"],
        &["-b"],
        false,
        &[],
        Asks::Protocol,
    ),
    client(
        &["zookeeper-shell", "zkCli"],
        &["-server"],
        true,
        &[],
        Asks::Protocol,
    ),
    client(
        &["etcdctl"],
        &["--endpoints", "--endpoint", "-C"],
        false,
        &["ETCDCTL_ENDPOINTS"],
        Asks::Protocol,
    ),
    client(&["cqlsh"], &[], true, &["CQLSH_HOST"], Asks::Protocol),
    client(&["nodetool"], &["-h", "--host"], false, &[], Asks::Protocol),
    client(&["kcadm"], &["--server"], false, &[], Asks::Http),
    client(
        &["rabbitmqadmin"],
        &["-H", "--host"],
        false,
        &[],
        Asks::Protocol,
    ),
    client(
        &["rabbitmq-diagnostics", "rabbitmqctl"],
        &["-n", "--node"],
        false,
        &[],
        Asks::Protocol,
    ),
    client(
        &["clickhouse-client", "clickhouse"],
        &["--host", "-h"],
        false,
        &[],
        Asks::Protocol,
    ),
    client(
        &["ldapsearch", "ldapwhoami"],
        &["-H", "-h"],
        false,
        &[],
        Asks::Protocol,
    ),
    client(
        &["influx"],
        &["--host", "-host"],
        false,
        &["INFLUX_HOST"],
        Asks::Protocol,
    ),
    client(
        &["cypher-shell"],
        &["-a", "--address"],
        false,
        &[],
        Asks::Protocol,
    ),
    client(
        &["temporal", "tctl"],
        &["--address", "--ad"],
        false,
        &["TEMPORAL_ADDRESS"],
        Asks::Protocol,
    ),
    client(
        &["nats"],
        &["-s", "--server"],
        false,
        &["NATS_URL"],
        Asks::Protocol,
    ),
    client(
        &["consul"],
        &["-http-addr"],
        false,
        &["CONSUL_HTTP_ADDR"],
        Asks::Protocol,
    ),
    client(
        &["grpc_health_probe", "grpc-health-probe"],
        &["-addr"],
        false,
        &[],
        Asks::Protocol,
    ),
    client(&["grpcurl", "tnsping"], &[], true, &[], Asks::Protocol),
    client(
        &["solr"],
        &["-zkHost", "-z"],
        false,
        &["ZK_HOST"],
        Asks::Protocol,
    ),
    client(
        &["stolonctl"],
        &["--store-endpoints"],
        false,
        &["STOLONCTL_STORE_ENDPOINTS"],
        Asks::Protocol,
    ),
];

const fn client(
    programs: &'static [&'static str],
    options: &'static [&'static str],
    first: bool,
    variables: &'static [&'static str],
    asks: Asks,
) -> Client {
    Client {
        programs,
        options,
        first,
        variables,
        asks,
    }
}
