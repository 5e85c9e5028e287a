"""Looks at a namespace: what timeline.py reads, from the cluster or from a recording.

A look is {"at": seconds since the epoch, "items": trimmed objects, "said": {uid of a pod: the last word of its gate}}.
"""
import json, re, subprocess, sys, time

GATE, LIST = "sluice-gate", "sluice.dev/depends-on"
KINDS = "pods,jobs,services,deployments,statefulsets,replicasets"


def trimmed(item):
    """The part of an object that this program reads, so that a recording stays small."""
    meta, spec, status = item["metadata"], item.get("spec", {}), item.get("status", {})
    keep = lambda source, *keys: {k: source[k] for k in keys if k in source}
    out = {"kind": item["kind"], "metadata": keep(meta, "name", "uid", "labels", "generation", "creationTimestamp", "deletionTimestamp"),
           "spec": keep(spec, "replicas", "selector") if item["kind"] != "Pod" else {},
           "status": {k: v for k, v in status.items() if isinstance(v, int) or k in ("phase", "currentRevision", "updateRevision")}}
    out["metadata"]["annotations"] = keep(meta.get("annotations", {}), LIST)
    out["metadata"]["owners"] = [keep(o, "kind", "name") for o in meta.get("ownerReferences", []) if o.get("controller")]
    out["status"]["conditions"] = [keep(c, "type", "status", "lastTransitionTime") for c in status.get("conditions") or [] if c["type"] in ("Ready", "Complete")]
    state = lambda source: {k: keep(v, "startedAt", "finishedAt", "exitCode", "message") for k, v in (source or {}).items()}
    for key in ("initContainerStatuses", "containerStatuses"):
        out["status"][key] = [{"name": c["name"], "restartCount": c["restartCount"], "state": state(c.get("state")), "lastState": state(c.get("lastState"))}
                              for c in status.get(key, [])]
    return out

def last_word(line):
    """The sentence in a line of a log, whether that is JSON or text behind a time and a level."""
    try:
        parsed = json.loads(line)
        return str(parsed.get("message") or parsed.get("msg") or line)
    except (ValueError, AttributeError):
        return re.sub(r"^(\d{4}-\d\d-\d\dT\S+\s+)?((TRACE|DEBUG|INFO|WARN|ERROR)\s+)?", "", line.strip())

def kubectl(*args):
    return subprocess.run(["kubectl", *args], capture_output=True, text=True, check=True).stdout

def heard(namespace, pod):
    try:
        return last_word(kubectl("logs", pod, "-n", namespace, "-c", GATE, "--tail=1"))
    except subprocess.CalledProcessError:                    # the pod went away in between
        return ""

def observe(namespace):
    """One look at the namespace, with the last word of each gate that still waits."""
    items = [trimmed(i) for i in json.loads(kubectl("get", KINDS, "-n", namespace, "-o", "json"))["items"]]
    waiting = [i["metadata"] for i in items if any(c["name"] == GATE and "running" in c["state"] for c in i["status"]["initContainerStatuses"])]
    return {"at": time.time(), "items": items, "said": {m["uid"]: heard(namespace, m["name"]) for m in waiting}}

def looks(namespace, patience=10):
    """Look after look; an API server that hiccups is asked again."""
    failures = 0
    while failures < patience:
        try:
            look = observe(namespace)
        except subprocess.CalledProcessError as error:
            failures, said = failures + 1, error.stderr.strip().rpartition("\n")[2]
        else:
            failures = 0
            yield look
        time.sleep(0.3)
    sys.exit(f"timeline.py: the cluster cannot be read: {said}")


class Recording:
    """Looks in a file: an object that did not change since the look before is only named."""
    def __init__(self, begin):
        self.begin, self.looks, self.last = begin, [], {}

    def add(self, look):
        items = {i["metadata"]["uid"]: i for i in look["items"]}
        if not self.looks or items != self.last or look["said"] != self.looks[-1]["said"]:
            self.looks.append({**look, "items": [uid if self.last.get(uid) == i else i for uid, i in items.items()]})
        self.last = items

    @staticmethod
    def read(path):
        """The begin, and the looks as they were."""
        with open(path, encoding="utf-8") as file:
            recording = json.load(file)
        known, whole = {}, []
        for look in recording["looks"]:
            known.update({i["metadata"]["uid"]: i for i in look["items"] if isinstance(i, dict)})
            whole.append({**look, "items": [known[i] if isinstance(i, str) else i for i in look["items"]]})
        return recording["begin"], whole

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"begin": self.begin, "looks": self.looks}, file, separators=(",", ":"))
