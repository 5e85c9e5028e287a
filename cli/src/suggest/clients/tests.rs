use super::*;
use crate::suggest::shell;

fn found(script: &str, env: &[(&str, &str)]) -> Vec<String> {
    let env: BTreeMap<_, _> = env
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
        .collect();
    let words = ["sh", "-c", script].map(str::to_owned);
    let script = shell::of_words(&words, &env);
    let found = script
        .calls
        .iter()
        .filter_map(|call| of(call, true, &env))
        .flatten();
    let told = found.map(|it| match it {
        For::Address(it) => format!("{}:{}", it.host, it.port),
        For::Name(name) => format!("name {name}"),
        For::Migration => "migration".to_owned(),
        For::Data(it) => {
            let host = it.address.map_or(String::new(), |it| it.host);
            let names = it.names.join(",");
            format!("{:?} {} {host} {names}", it.sought, it.program)
        }
        For::File(path) => format!("file {path}"),
        For::Nothing(reason) => format!("nothing: {reason:?}"),
        other => format!("{other:?}"),
    });
    told.collect()
}

/// Commands of clients, and the waits that `suggest` reads from each.
const CALLS: &[(&str, &str)] = &[
    ("nc -zv -w 3 db 5432", "db:5432"),
    ("curl -XGET http://api:8080/ready", "api:8080"),
    (
        "cqlsh db -e 'describe keyspace orders'",
        "Table cqlsh db orders",
    ),
    (
        "redis-cli -h cache -p 6379 get seeded | grep yes",
        "Other redis-cli cache seeded",
    ),
    ("until nc -z db:5432; do sleep 1; done", "db:5432"),
    ("pg_isready -h db -p 5432", "db:5432"),
    ("fabric-ca-client getcainfo -u https://u:p@ca", "ca:"),
    (
        "cockroach node status --insecure --host=db:26257",
        "db:26257",
    ),
    ("rpk cluster health --brokers queue:9093", "queue:9093"),
    (
        "pulsar-admin --admin-url http://broker:8080 clusters list",
        "broker:8080",
    ),
    ("mysqlsh u@db:3307 --sql -e 'select 1'", "db:3307"),
    ("couchbase-cli server-list -c docs -u u -p p", "docs:"),
    (
        "beeline -u jdbc:hive2://hive:10001/x -e 'show functions'",
        "hive:10001",
    ),
    ("pg_isready -d postgres://u@db:5432/d", "db:5432"),
    (
        "psql -d 'postgres://u@db/d?sslmode=require' -c 'select 1'",
        "db:",
    ),
    ("psql postgres://u:p@db/d -c 'select 1'", "db:"),
    ("mysqladmin ping -hdb --silent", "db:"),
    ("redis-cli -h cache -p 6379 ping", "cache:6379"),
    ("mongosh --host=docs --eval 1", "docs:"),
    ("mongo mongodb://docs:27017/x", "docs:27017"),
    (
        "kafka-topics.sh --bootstrap-server kafka:9092 --list",
        "kafka:9092",
    ),
    (
        "kafka-broker-api-versions --bootstrap-server=kafka:9092",
        "kafka:9092",
    ),
    ("zookeeper-shell.sh zk:2181 ls /", "zk:2181"),
    (
        "zookeeper-shell.sh zk:2181 ls /brokers/ids",
        "Other zookeeper-shell zk ids",
    ),
    // The server has that table before any other.
    ("psql -h db -c 'select 1 from pg_database'", "db:"),
    (
        "bin/pulsar zookeeper-shell -server zk:2181 get /admin/clusters/shop",
        "Other zookeeper-shell zk shop",
    ),
    (
        "psql -h db -tc \"select 1 from pg_database where datname='shop'\" | grep 1",
        "Database psql db pg_database,shop",
    ),
    ("psql -h db -l", "db:"),
    (
        "psql -h db -lqt | cut -d x | grep -qw shop",
        "Database psql db ",
    ),
    (
        "mysql -hdb -e 'show tables' | grep orders",
        "Table mysql db ",
    ),
    (
        "kafka-topics --bootstrap-server kafka:9092 --describe --topic orders",
        "Other kafka-topics kafka orders",
    ),
    (
        "psql -h db -c 'select * from orders'",
        "Table psql db orders",
    ),
    (
        "psql -h db -c 'select * from orders' | grep paid",
        "Other psql db orders",
    ),
    (
        "psql -h db -c 'select * from orders where paid'",
        "Other psql db orders",
    ),
    ("until kong start; do sleep 1; done; kong stop", "migration"),
    (
        "etcdctl --endpoints=http://etcd:2379 endpoint health",
        "etcd:2379",
    ),
    ("cqlsh cassandra 9043 -e x", "cassandra:9043"),
    ("cqlsh -u a -p b cassandra -e x", "cassandra:"),
    ("psql 'host=db port=5433 dbname=d' -c 'select 1'", "db:5433"),
    ("mongosh docs:27018/admin --eval 1", "docs:27018"),
    ("PGHOST=db PGPORT=5433 pg_isready", "db:5433"),
    ("export PGHOST=db PGPORT=5433; pg_isready -q", "db:5433"),
    ("vault status -address=http://vault:8200", "vault:8200"),
    ("vault kv get x", "nothing: Vault"),
    ("cub kafka-ready -b kafka:9092 1 60", "kafka:9092"),
    ("cub zk-ready zk:2181 60", "zk:2181"),
    ("cub sr-ready registry 8081 60", "registry:8081"),
    ("openssl s_client -connect db:5432", "db:5432"),
    ("socat - TCP:db:5432,connect-timeout=1", "db:5432"),
    (
        "until ssh -p 2222 -o BatchMode=yes u@worker-0.worker true; do sleep 1; done",
        "worker-0.worker:2222",
    ),
    ("until ssh worker 'echo ok'; do sleep 1; done", "worker:"),
    ("nmap -p 5432 db", "db:5432"),
    ("sqlcmd -S tcp:mssql,1434 -Q 'select 1'", "mssql:1434"),
    ("mosquitto_sub -h mqtt -p 1884 -t x -C 1", "mqtt:1884"),
    ("wait-for-it -h db -p 5432", "db:5432"),
    ("waitforit -host=db -port=5432", "db:5432"),
    ("wait4x tcp db:5432 --timeout 0", "db:5432"),
    ("npx wait-on tcp:db:5432", "db:5432"),
    ("wait-on http-get://api:80/ready", "api:80"),
    ("python3 /app/wait_for_it.py db:5432", "db:5432"),
    (
        "python -c \"socket.create_connection(('db', 5432))\"",
        "db:5432",
    ),
    (
        "python manage.py wait_for_db",
        "nothing: NoHost(\"wait_for_db\")",
    ),
    ("alembic current", "migration"),
    ("mc alias set store http://minio:9000 a b", "minio:9000"),
    (
        "kcadm.sh config credentials --server http://keycloak:8080/auth",
        "keycloak:8080",
    ),
    (
        "wait-for-port --host=kafka --state=inuse --timeout=120 9092",
        "kafka:9092",
    ),
    ("wait-for-it.sh db:3306 -t 60 -- run", "db:3306"),
    ("dockerize -wait tcp://db:5432 -timeout 60s", "db:5432"),
    (
        "curl -s -o /dev/null -w '%{http_code}' api:8080/ready",
        "api:8080",
    ),
    ("wget -q --spider http://api/ready", "api:"),
    ("wget -T 5 -O- http://api/ready", "api:"),
    ("getent ahosts db", "name db"),
    ("nslookup -timeout=10 db", "name db"),
    (
        "until (echo > /dev/tcp/db/80) 2>/dev/null; do sleep 1; done",
        "db:80",
    ),
    (
        "x_wait_for_postgresql_connection postgresql://u:p@db:5432/d",
        "db:5432",
    ),
    (
        "postgresql_remote_execute_print_output db 5432 d u p",
        "db:5432",
    ),
    (
        "x_wait_for_db_connection",
        "nothing: NoHost(\"x_wait_for_db_connection\")",
    ),
    ("./node_modules/.bin/prisma migrate status", "migration"),
    ("python manage.py migrate --check", "migration"),
    ("airflow_wait_for_db_migrations", "migration"),
    (
        "until [ -f /run/ready ]; do sleep 1; done",
        "file /run/ready",
    ),
];

#[test]
fn every_client_says_where_it_looks() {
    for (script, expected) in CALLS {
        assert_eq!(found(script, &[]), [*expected], "{script}");
    }
}

#[test]
fn what_serves_or_subscribes_is_no_wait() {
    for script in [
        "while true; do socat TCP-LISTEN:80,fork TCP:db:5432; done",
        "while true; do mosquitto_sub -h mqtt -t x; done",
        "while true; do nc -lk -p 8080 -e app; done",
        "openssl req -new",
        "log info 'migrations are done'",
    ] {
        assert_eq!(found(script, &[]), [""; 0], "{script}");
    }
}

#[test]
fn the_members_of_a_tree_are_no_port() {
    for (script, expected) in [
        ("echo dump | nc zk 2181 | grep brokers", true),
        ("/bin/echo dump | /usr/bin/nc zk 2181 | grep brokers", true),
        ("echo ruok | nc zk 2181", false),
    ] {
        let words = ["sh", "-c", script].map(str::to_owned);
        let calls = shell::of_words(&words, &BTreeMap::new()).calls;
        assert_eq!(
            asks_for_members(Some(&calls[0]), &calls[1]),
            expected,
            "{script}"
        );
    }
}

#[test]
fn a_variable_of_the_environment_says_it_too() {
    assert_eq!(
        found("until pg_isready -q; do sleep 1; done", &[("PGHOST", "db")]),
        ["db:"]
    );
    assert_eq!(
        found("until pg_isready -q; do sleep 1; done", &[]),
        ["nothing: NoHost(\"pg_isready\")"]
    );
    assert_eq!(
        found(
            "until pg_isready -h db; do sleep 1; done",
            &[("PGPORT", "5433")]
        ),
        ["db:5433"]
    );
    for (env, expected) in [
        (
            &[("SHOP_DB_HOST", "db"), ("SHOP_DB_PORT_NUMBER", "5433")][..],
            "db:5433",
        ),
        (
            &[
                ("DATABASE_URL", "postgres://u:p@db/x"),
                ("CACHE_URL", "redis://c"),
            ][..],
            "db:",
        ),
        // With two hosts, the environment does not tell which one is meant.
        (
            &[("DB_HOST", "a"), ("MYSQL_HOST", "b")][..],
            "nothing: NoHost(\"x_wait_for_db_connection\")",
        ),
    ] {
        assert_eq!(found("x_wait_for_db_connection", env), [expected]);
    }
    // Where the environment has no address, `airflow db check` becomes a wait for the migration.
    let env = [
        ("DATABASE_HOST", "db"),
        ("DATABASE_PORT", "5433"),
        ("REDIS_HOST", "cache"),
    ];
    for (script, env, expected) in [
        ("timeout 60s airflow db check", &env[..], "db:5433"),
        ("exec airflow checkdb", &env, "db:5433"),
        ("airflow db check", &[], "migration"),
        (
            "migrate ready",
            &[("APP_CLICKHOUSE_DSN", "tcp://facts:9000")][..],
            "facts:9000",
        ),
        (
            "migrate ready",
            &[
                ("FACTS_CLICKHOUSE_HOST", "facts"),
                ("FACTS_CLICKHOUSE_PORT", "9440"),
                ("FACTS_CLICKHOUSE_HTTP_PORT", "8123"),
            ],
            "facts:9440",
        ),
        ("airflow db check-migrations", &env, "migration"),
        ("x_wait_for_kafka", &[("KAFKA_BROKERS", "a:1")], "a:1"),
        ("x_wait_for_zookeeper", &[("ZOOKEEPER_HOST", "zk")], "zk:"),
    ] {
        assert_eq!(found(script, env), [expected], "{script}");
    }
    assert_eq!(
        found("etcdctl get x", &[("ETCDCTL_ENDPOINTS", "a:1,b:2")]),
        ["a:1", "b:2"]
    );
}

#[test]
fn a_url_without_a_port_has_that_of_its_scheme() {
    let env = BTreeMap::new();
    for (address, expected) in [
        ("http://vault", "80"),
        ("https://vault", "443"),
        ("vault", "8200"),
    ] {
        let words = ["vault", "status", "-address", address].map(str::to_owned);
        let script = shell::of_words(&words, &env);
        let found = of(&script.calls[0], true, &env).unwrap();
        let [For::Address(found)] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(found.usual, expected, "{address}");
    }
}
