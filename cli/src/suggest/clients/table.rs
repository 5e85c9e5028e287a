//! The table of the clients of stores and brokers, with the options, arguments and variables that tell each client its address.

use crate::suggest::wait::{Asks, MONGODB, MYSQL, POSTGRES, REDIS};

/// A client, and the options, arguments and variables that tell the client its address.
pub(super) struct Client {
    pub(super) programs: &'static [&'static str],
    /// The arguments that make the client ask whether the server answers: it has one of these, or its command is no wait. Empty for a
    /// client that does nothing else.
    pub(super) asks_with: &'static [&'static str],
    /// The commands of the client that may follow the options. Where an option's value is empty, a command stands in the value's place.
    pub(super) commands: &'static [&'static str],
    /// The options that give the address.
    pub(super) options: &'static [&'static str],
    /// The options that give a URL, the parameters of a connection, or the name of a database. Only a value with `://` or a variable counts as
    /// an address.
    pub(super) connections: &'static [&'static str],
    pub(super) plain: Plain,
    /// The variables that give the address where no argument gives it.
    pub(super) variables: &'static [&'static str],
    pub(super) asks: Asks,
    /// The port that the client uses where nothing names a port; empty where that port is not known.
    pub(super) port: &'static str,
    /// Whether the option `-p` always gives the port. For most clients `-p` is the password, so it counts as a port only where it is a
    /// number.
    pub(super) p_is_port: bool,
    /// The variable that gives the port where no argument gives it; empty where there is no such variable.
    pub(super) port_variable: &'static str,
    /// The text that the client allows in front of the host, such as `rabbit@`; empty where there is none.
    pub(super) prefix: &'static str,
    /// The character between the host and the port.
    pub(super) before_port: char,
}

/// The way in which an argument of a client that is no option may name the address.
#[derive(PartialEq, Eq)]
pub(super) enum Plain {
    /// The argument never names the address.
    Never,
    /// The argument is the address.
    Address,
    /// The argument is the address, and the next one may be the port.
    AddressAndPort,
    /// The argument is a URL with the address; any other text is the name of a database.
    Url,
    /// The argument is an address with a port or a database. A name alone is a database, and a path is a script.
    WithDatabase,
}

impl Plain {
    /// Whether an argument of a client that is no option counts as its address. The first argument that counts is taken.
    pub(super) fn takes(&self, argument: &str) -> bool {
        match self {
            Self::Never => false,
            Self::Address | Self::AddressAndPort => true,
            Self::Url => argument.contains("://"),
            Self::WithDatabase => {
                argument.contains(':')
                    || argument.contains('/') && !argument.starts_with(['/', '.'])
            }
        }
    }
}

/// The fields that a row of [`CLIENTS`] has where it names no others: no option, argument or variable tells the address.
const CLIENT: Client = Client {
    programs: &[],
    asks_with: &[],
    commands: &[],
    options: &[],
    connections: &[],
    plain: Plain::Never,
    variables: &[],
    asks: Asks::Protocol,
    port: "",
    p_is_port: false,
    port_variable: "",
    prefix: "",
    before_port: ':',
};

/// The clients that an option, an argument or a variable tells their address.
pub(super) const CLIENTS: [Client; 37] = [
    Client {
        programs: &["pg_isready", "psql", "pg_dump"],
        options: &["-h", "--host"],
        connections: &["-d", "--dbname"],
        plain: Plain::Url,
        variables: &["PGHOST"],
        port: POSTGRES,
        p_is_port: true,
        port_variable: "PGPORT",
        ..CLIENT
    },
    Client {
        programs: &[
            "mysql",
            "mysqladmin",
            "mariadb",
            "mariadb-admin",
            "mysqlshow",
        ],
        options: &["-h", "--host"],
        variables: &["MYSQL_HOST"],
        port: MYSQL,
        port_variable: "MYSQL_TCP_PORT",
        ..CLIENT
    },
    Client {
        programs: &["redis-cli", "valkey-cli"],
        options: &["-h", "-u"],
        port: REDIS,
        p_is_port: true,
        ..CLIENT
    },
    Client {
        programs: &["mongo", "mongosh"],
        options: &["--host"],
        plain: Plain::WithDatabase,
        port: MONGODB,
        ..CLIENT
    },
    Client {
        programs: &[
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
        options: &[
            "--bootstrap-server",
            "--bootstrap-servers",
            "--bootstrap-controller",
            "--broker-list",
            "--zookeeper",
        ],
        ..CLIENT
    },
    Client {
        programs: &["kcat", "kafkacat"],
        options: &["-b"],
        ..CLIENT
    },
    Client {
        programs: &["zookeeper-shell", "zkCli"],
        options: &["-server"],
        plain: Plain::Address,
        port: "2181",
        ..CLIENT
    },
    Client {
        programs: &["etcdctl"],
        commands: &["cluster-health", "endpoint", "get", "ls", "member"],
        options: &["--endpoints", "--endpoint", "-C"],
        variables: &["ETCDCTL_ENDPOINTS"],
        port: "2379",
        ..CLIENT
    },
    Client {
        programs: &["cqlsh"],
        plain: Plain::AddressAndPort,
        variables: &["CQLSH_HOST"],
        port: "9042",
        port_variable: "CQLSH_PORT",
        ..CLIENT
    },
    Client {
        programs: &["nodetool"],
        options: &["-h", "--host"],
        port: "7199",
        p_is_port: true,
        ..CLIENT
    },
    Client {
        programs: &["kcadm"],
        options: &["--server"],
        asks: Asks::Http,
        ..CLIENT
    },
    Client {
        programs: &["rabbitmqadmin"],
        options: &["-H", "--host"],
        port: "15672",
        ..CLIENT
    },
    Client {
        programs: &["rabbitmq-diagnostics", "rabbitmqctl"],
        options: &["-n", "--node"],
        prefix: "rabbit@",
        ..CLIENT
    },
    Client {
        programs: &["clickhouse-client", "clickhouse"],
        options: &["--host", "-h"],
        port: "9000",
        ..CLIENT
    },
    Client {
        programs: &["ldapsearch", "ldapwhoami"],
        options: &["-H", "-h"],
        port: "389",
        ..CLIENT
    },
    Client {
        programs: &["influx"],
        options: &["--host", "-host"],
        variables: &["INFLUX_HOST"],
        port: "8086",
        ..CLIENT
    },
    Client {
        programs: &["cypher-shell"],
        options: &["-a", "--address"],
        port: "7687",
        ..CLIENT
    },
    Client {
        programs: &["temporal", "tctl"],
        options: &["--address", "--ad"],
        variables: &["TEMPORAL_ADDRESS"],
        port: "7233",
        ..CLIENT
    },
    Client {
        programs: &["nats"],
        options: &["-s", "--server"],
        variables: &["NATS_URL"],
        port: "4222",
        ..CLIENT
    },
    Client {
        programs: &["consul"],
        options: &["-http-addr"],
        variables: &["CONSUL_HTTP_ADDR"],
        port: "8500",
        ..CLIENT
    },
    Client {
        programs: &["grpc_health_probe", "grpc-health-probe"],
        options: &["-addr"],
        ..CLIENT
    },
    Client {
        programs: &["grpcurl", "tnsping"],
        plain: Plain::Address,
        ..CLIENT
    },
    Client {
        programs: &["postgresql_execute"],
        options: &["-h"],
        port: POSTGRES,
        port_variable: "POSTGRESQL_PORT_NUMBER",
        ..CLIENT
    },
    Client {
        programs: &["openssl"],
        asks_with: &["s_client"],
        options: &["-connect"],
        asks: Asks::Port,
        ..CLIENT
    },
    Client {
        programs: &["sqlcmd"],
        options: &["-S"],
        variables: &["SQLCMDSERVER"],
        port: "1433",
        prefix: "tcp:",
        before_port: ',',
        ..CLIENT
    },
    Client {
        programs: &["mosquitto_sub"],
        asks_with: &["-C", "-W", "-E"],
        options: &["-h", "--host"],
        port: "1883",
        p_is_port: true,
        ..CLIENT
    },
    Client {
        programs: &["arangosh"],
        options: &["--server.endpoint"],
        ..CLIENT
    },
    Client {
        programs: &["solr"],
        options: &["-zkHost", "-z"],
        variables: &["ZK_HOST"],
        port: "2181",
        ..CLIENT
    },
    Client {
        programs: &["stolonctl"],
        options: &["--store-endpoints"],
        variables: &["STOLONCTL_STORE_ENDPOINTS"],
        ..CLIENT
    },
    Client {
        programs: &["fabric-ca-client"],
        options: &["-u", "--url"],
        variables: &["FABRIC_CA_CLIENT_URL"],
        port: "7054",
        ..CLIENT
    },
    Client {
        programs: &["cockroach"],
        options: &["--host", "--url"],
        variables: &["COCKROACH_HOST", "COCKROACH_URL"],
        port: "26257",
        port_variable: "COCKROACH_PORT",
        ..CLIENT
    },
    Client {
        programs: &["rpk"],
        asks_with: &["health", "info", "list", "metadata"],
        options: &["--brokers", "--api-urls"],
        variables: &["RPK_BROKERS"],
        port: "9092",
        ..CLIENT
    },
    Client {
        programs: &["pulsar-admin"],
        options: &["--admin-url"],
        port: "8080",
        ..CLIENT
    },
    Client {
        programs: &["mysqlsh"],
        options: &["-h", "--host"],
        plain: Plain::WithDatabase,
        port: MYSQL,
        ..CLIENT
    },
    Client {
        programs: &["couchbase-cli"],
        options: &["-c", "--cluster"],
        port: "8091",
        ..CLIENT
    },
    Client {
        programs: &["memcping", "memcstat"],
        options: &["--servers"],
        port: "11211",
        ..CLIENT
    },
    Client {
        programs: &["beeline"],
        options: &["-u"],
        port: "10000",
        ..CLIENT
    },
];
