use super::*;

fn calls(script: &str, env: &[(&str, &str)]) -> Vec<String> {
    let words = ["sh", "-ec", script].map(str::to_owned);
    let env = env.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
    let script = of_words(&words, &env.collect());
    let mut shown: Vec<String> = Vec::new();
    for call in script.calls {
        let mark = if call.is_looped() { "*" } else { "" };
        shown.push(format!("{mark}{}", call.words.join(" ")));
    }
    shown
}

#[test]
fn commands_are_found_wherever_they_stand() {
    for (script, expected) in [
        (
            "until nc -z db 1; do sleep 1; done; echo x",
            vec!["*nc -z db 1", "echo x"],
        ),
        ("while ! nc -z db 1; do sleep 1; done", vec!["*nc -z db 1"]),
        (
            "for h in a b; do until nc -z $h 1; do sleep 1; done; done",
            vec!["*nc -z a 1", "*nc -z b 1"],
        ),
        (
            "i=0; while [ $i -lt 2 ]; do H=db-$i.db; nc $H 1; i=$((i+1)); done",
            vec![
                "*[ 0 -lt 2 ]",
                "*[ 1 -lt 2 ]",
                "*nc db-0.db 1",
                "*nc db-1.db 1",
            ],
        ),
        (
            "for i in {0..1}; do nc db-$i 1; done; for ((i=1; i<=2; i++)); do nc q-$i 1; done",
            vec!["*nc db-0 1", "*nc db-1 1", "*nc q-1 1", "*nc q-2 1"],
        ),
        ("timeout -k 1 30 nc db 1", vec!["nc db 1"]),
        ("H=db; nc ${H} $PORT", vec!["nc db 5432"]),
        (
            "timeout 9 sh -eo pipefail -c 'until nc -z $1 $2; do sleep 1; done' _ db 1",
            vec!["*nc -z db 1"],
        ),
        (
            "hosts=(\n  http://a\n  http://b\n)\nfor h in \"${hosts[@]}\"; do curl $h/x; done",
            vec!["*curl http://a/x", "*curl http://b/x"],
        ),
        (
            "L=a,b; read -r -a hosts <<< \"$(tr ',;' ' ' <<< \"$L\")\"; for h in \"${hosts[@]}\"; do nc $h 1; done",
            vec!["*nc a 1", "*nc b 1"],
        ),
        ("sh -c 'nc -z $0 $1' db 1", vec!["nc -z db 1"]),
        (
            "busybox nc db 1; npx --yes wait-port db:1",
            vec!["nc db 1", "wait-port db:1"],
        ),
        (
            "A=db:1; nc ${A%%:*} ${A##*:}; H=$(echo $A | cut -d: -f1); nc $H 1",
            vec!["nc db 1", "nc db 1"],
        ),
        (
            "nslookup db.$(cat /var/run/secrets/kubernetes.io/serviceaccount/namespace).svc",
            vec!["nslookup db.$(OWN_NAMESPACE).svc"],
        ),
        (
            "python - <<EOF\nconnect('db', 1)\nEOF\necho x",
            vec!["python - <<EOF <<<connect('db', 1)\n", "echo x"],
        ),
        ("eval \"nc $host 1\"", vec!["nc $(host) 1"]),
        (
            "for a in $(getent hosts db | cut -d' ' -f1); do nc $a 1; done",
            vec!["*getent hosts db", "*cut -d  -f1", "*nc db 1"],
        ),
        (
            "a=$(nslookup db | grep Address)\nwhile read -r line; do\n  while ! x; do sleep 1; done\n  nc $line 1\ndone <<EOF\n$a\nEOF",
            vec!["nslookup db", "grep Address", "*x", "*nc db 1"],
        ),
        (
            "while [ $(curl -s http://a) != 1 ]; do sleep 1; done",
            vec!["*[  != 1 ]", "*curl -s http://a"],
        ),
    ] {
        assert_eq!(calls(script, &[("PORT", "5432")]), expected, "{script}");
    }
}

#[test]
fn functions_are_followed_with_their_arguments() {
    let script = "retry_while() { local -r cmd=\"${1:?}\"; sleep 5; }\ncheck() {\n  local host=\"${1:?missing}\"\n  wait-for-port --host=$host $2\n}\n\
                  retry_while \"check db 1\" 60";
    assert_eq!(calls(script, &[]), ["*wait-for-port --host=db 1"]);
    let script = "ask() { local c=\"$1\"; shift; \"$ASK\" \"$c\" \"$@\" --last; }\nuntil ask get --server a; do sleep 1; done";
    let env = [("ASK", "/bin/kcadm.sh")];
    assert_eq!(
        calls(script, &env),
        ["*/bin/kcadm.sh get --server a --last"]
    );
}
