#!/usr/bin/env python3
"""Shows what every pod of a namespace waits for, then when each really started, and checks that order.

    timeline.py -n shop -- helm install shop examples/shop/chart -n shop     runs the command and follows what it causes
    timeline.py -n shop                                                      follows and draws what is going on already; checks nothing,
                                                                             because what a pod depended on may be gone by now
    timeline.py --replay FILE                                                the same from a recording made with --record

The order is checked for the pods made meanwhile, against the `sluice.dev/depends-on` of their workload, for dependencies of
the two kinds that the shop has: a Job is there when it is complete, a Service when the first of its pods is Ready. Times are
those of the API server and the kubelet, in whole seconds. Exit code 1: something started too early, never came, or the command failed.
"""
import argparse, dataclasses, json, shutil, subprocess, sys, threading, time, urllib.request
from datetime import datetime
from looks import GATE, LIST, Recording, looks


@dataclasses.dataclass
class Pod:
    """What is known of one pod; times are seconds since the epoch, None while it has not come to that."""
    name: str
    labels: dict
    workload: tuple             # kind and name of what the user wrote
    created: float
    opened: float = None        # its gate let it go
    started: float = None       # its first application container, at the first attempt
    ready: float = None         # for a Job's pod: succeeded
    ended: float = None         # all its containers are done, well or not
    gone: float = None
    failures: int = 0           # application containers that ended without success
    state: str = "starting"
    why: str = ""


def seconds(stamp):
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp() if stamp else None

def first(*times):
    return min((t for t in times if t is not None), default=None)

def condition(item, kind):
    """When this condition became true, or None."""
    found = (c for c in item.get("status", {}).get("conditions", []) if c["type"] == kind and c["status"] == "True")
    return next((seconds(c["lastTransitionTime"]) for c in found), None)

def read_pod(item, workload, said):
    meta, status = item["metadata"], item.get("status", {})
    pod = Pod(meta["name"], meta.get("labels", {}), workload, seconds(meta["creationTimestamp"]))
    pod.ready = condition(item, "Ready") if workload[0] != "Job" else None
    gate = next((c.get("state", {}) for c in status.get("initContainerStatuses", []) if c["name"] == GATE), {})
    if "terminated" in gate and gate["terminated"]["exitCode"] == 0:
        pod.opened = seconds(gate["terminated"]["finishedAt"])
    elif "terminated" in gate:
        pod.state, pod.why = "refused", gate["terminated"].get("message", "")
    elif "running" in gate:
        pod.state, pod.why = "waiting", said
    for container in status.get("containerStatuses", []):
        states = [container.get("state", {}), container.get("lastState", {})]
        pod.started = first(pod.started, *(seconds(s[k].get("startedAt")) for s in states for k in ("running", "terminated") if k in s))
        ended = states[0].get("terminated") or "waiting" in states[0] and states[1].get("terminated") or {}
        pod.failures += container["restartCount"] + (ended.get("exitCode", 0) != 0)
        if pod.failures:
            pod.state, pod.why = "crashing", f"failures so far: {pod.failures}"
    if "deletionTimestamp" in meta:
        pod.state, pod.why, pod.failures = "stopping", "", 0   # it ends because it was told to
    elif status.get("phase") in ("Succeeded", "Failed"):
        pod.ended = max((seconds(c["state"].get("terminated", {}).get("finishedAt")) or 0 for c in status["containerStatuses"]), default=0) or None
        pod.state, pod.ready = ("done", pod.ended) if status["phase"] == "Succeeded" else ("failed", None)
    elif pod.ready:
        pod.state, pod.why = "ready", ""
    elif workload[0] == "Job" and pod.started and not pod.failures:
        pod.state = "running"
    return pod

class History:
    """Everything seen since `begin`, pods that are gone by now included."""
    def __init__(self, begin):
        self.begin, self.end, self.pods, self.objects = begin, begin, {}, {}

    def add(self, look):
        self.end = look["at"]
        self.objects = {(i["kind"], i["metadata"]["name"]): i for i in look["items"]}
        here = {i["metadata"]["uid"]: i for i in look["items"] if i["kind"] == "Pod"}
        for uid, item in here.items():
            pod, before = read_pod(item, self.workload(item), look["said"].get(uid, "")), self.pods.get(uid)
            if before:                                       # a pod that crashed in between was ready once all the same
                pod.ready, pod.started, pod.failures = first(before.ready, pod.ready), first(before.started, pod.started), max(before.failures, pod.failures)
            self.pods[uid] = pod
        for uid in self.pods.keys() - here.keys():
            self.pods[uid].gone = self.pods[uid].gone or self.end

    def workload(self, item):
        """Up the owners to what the user wrote."""
        kind, name = item["kind"], item["metadata"]["name"]
        for owner in item["metadata"]["owners"]:
            return self.workload(self.objects.get((owner["kind"], owner["name"]), {"kind": owner["kind"], "metadata": {"name": owner["name"], "owners": []}}))
        return kind, name

    def settled(self):
        """Every workload has what it asks for, and no pod is on its way in or out (pods are read first, and so may lag behind)."""
        def done(item):
            status, want = item["status"], item["spec"].get("replicas", 1)
            if item["kind"] == "Job":
                return condition(item, "Complete")
            current = status.get("observedGeneration", 0) >= item["metadata"].get("generation", 0) and status.get("currentRevision") == status.get("updateRevision")
            return current and want == status.get("replicas", 0) == status.get("readyReplicas", 0) == status.get("updatedReplicas", status.get("replicas", 0))
        work = [i for i in self.objects.values() if i["kind"] in ("Job", "Deployment", "StatefulSet")]
        return bool(work) and all(map(done, work)) and all(p.state in ("ready", "done", "failed") for p in self.pods.values() if not p.gone)

    def healthy(self, reference):
        """Since when this dependency is there, or None; see the head of this file."""
        kind, _, name = reference.rpartition("/")
        if kind == "job":
            return condition(self.objects.get(("Job", name), {}), "Complete")
        if kind not in ("svc", "service"):
            raise SystemExit(f"timeline.py: {reference!r}: this program judges job/NAME and svc/NAME only")
        wanted = (self.objects.get(("Service", name), {}).get("spec", {}).get("selector") or {"": None}).items()
        return first(*(p.ready for p in self.pods.values() if wanted <= p.labels.items()))

    def check(self):
        """One (holds, sentence) for each pod made meanwhile and each of its dependencies."""
        for pod in sorted(self.pods.values(), key=lambda p: (p.started or self.end, p.name)):
            work = self.objects.get(pod.workload)
            if pod.created < int(self.begin) or not work:
                continue
            if pod.failures:
                yield False, f"{pod.name} was started in vain {pod.failures} time{'s' * (pod.failures > 1)}"
            for reference in filter(None, (r.strip() for r in work["metadata"]["annotations"].get(LIST, "").split(","))):
                since = self.healthy(reference)
                there = "never there" if since is None else "there before" if since < int(self.begin) else f"there since {self.offset(since)}"
                yield bool(since and pod.started and pod.started >= since), f"{pod.name} started {self.offset(pod.started)}, {reference} {there}"

    def offset(self, when):
        return "-" if when is None else "before" if when < int(self.begin) else f"+{when - int(self.begin):.0f}s"

    def bars(self, width):
        """The timeline: a line for each pod, sorted by the real start."""
        rows = sorted(self.pods.values(), key=lambda p: (p.started or self.end, p.created, p.name))
        label = max((len(p.name) for p in rows), default=3)
        room, begin = max(width - label - 29, 20), int(self.begin)
        step = max(self.end - begin, 1) / room
        yield f"{'pod':{label}} |{'. waits, - starts, # works, x fails'[:room]:{room}}|    gate  start  ready"
        for pod in rows:
            job = pod.workload[0] == "Job"
            if pod.ended and pod.ended < int(self.begin):
                continue
            def cell(at):
                if at + step <= pod.created or at >= (pod.gone or self.end) or pod.ended and at > pod.ended:
                    return " "
                working = pod.started if job else pod.ready
                return ("x" if pod.state == "failed" else "#") if working and at + step > working else "-" if pod.opened and at + step > pod.opened or pod.started and at + step > pod.started else "."
            line = "".join(cell(begin + i * step) for i in range(room))
            yield f"{pod.name:{label}} |{line}| {self.offset(pod.opened):>7}{self.offset(pod.started):>7}{self.offset(pod.ready):>7}"


class Screen:
    """A table that is drawn again where it stands; where there is no terminal, a line for each change."""
    def __init__(self, out, begin):
        self.out, self.begin, self.lines, self.last = out, begin, 0, {}

    def show(self, history):
        rows = {uid: (p.name, "gone" if p.gone else p.state, "" if p.gone else p.why) for uid, p in history.pods.items()}
        changed = [uid for uid in rows if self.last.get(uid) != rows[uid]]
        if not changed:
            return
        self.last, width = rows, max([24] + [len(r[0]) for r in rows.values()])
        text = lambda row: f"{row[0]:{width}}  {row[1]:9} {row[2]}"
        if self.out.isatty():
            columns = shutil.get_terminal_size().columns
            self.out.write(f"\x1b[{self.lines}F\x1b[J" if self.lines else "")
            self.out.write("".join(text(row)[:columns - 1] + "\n" for row in sorted(rows.values()) if row[1] != "gone"))
            self.lines = sum(row[1] != "gone" for row in rows.values())
        else:
            self.out.write("".join(f"{history.end - self.begin:6.1f}s  {text(rows[uid])}".rstrip() + "\n" for uid in changed))
        self.out.flush()


class Probe(threading.Thread):
    """Asks the shop for its products all the time, and remembers which API pod answered."""
    def __init__(self, url):
        super().__init__(daemon=True)
        self.url, self.answers, self.failures, self.running = url, [], [], True

    def run(self):
        while self.running:
            try:
                with urllib.request.urlopen(self.url, timeout=5) as reply:
                    self.answers.append((time.time(), json.load(reply)["schema"]))
            except Exception as error:                       # whatever it is, a customer got no answer
                self.failures.append((time.time(), error))
            time.sleep(0.1)

    def summary(self, begin):
        for schema in sorted({s for _, s in self.answers}):
            times = [t - begin for t, s in self.answers if s == schema]
            yield True, f"the API of schema {schema} answered {len(times)} requests, from +{times[0]:.1f}s to +{times[-1]:.1f}s"
        yield not self.failures, f"{len(self.failures)} requests got no answer" + "".join(f"\n       +{t - begin:.1f}s {e}" for t, e in self.failures[:3])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("-n", "--namespace", default="shop")
    options.add_argument("--url", help="ask this address all the time and tell who answered")
    options.add_argument("--record", help="write what was seen to this file")
    options.add_argument("--replay", help="read what was seen from this file")
    options.add_argument("--timeout", type=float, default=180, help="seconds until it gives up (180)")
    options.add_argument("command", nargs="*", help="what to run")
    args = options.parse_args()

    begin, source = Recording.read(args.replay) if args.replay else (time.time(), looks(args.namespace))
    probe = Probe(args.url) if args.url else None
    if probe:
        probe.start()
    command = subprocess.Popen(args.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) if args.command else None
    history, screen, recording = History(begin), Screen(sys.stdout, begin), Recording(begin)
    ended = False
    for look in source:
        history.add(look)
        if not command and not args.replay:
            history.begin = first(begin, *(p.created for p in history.pods.values()))
        screen.show(history)
        recording.add(look)
        if not args.replay and (ended and (command and command.returncode or history.settled()) or look["at"] > begin + args.timeout):
            break
        ended = not command or command.poll() is not None    # judged by the next look, which sees what the command made last
    if probe:
        probe.running = False
        probe.join()
    if args.record:
        recording.write(args.record)
    if command and command.poll():
        sys.exit(f"{command.stdout.read()}timeline.py: the command failed with exit code {command.returncode}")

    print("", *history.bars(min(shutil.get_terminal_size((110, 24)).columns, 140)), "", sep="\n")
    results = [*(history.check() if command or args.replay else []), *(probe.summary(begin) if probe else []), *([] if history.settled() else [(False, "not everything became ready")])]
    if results:
        print("Every container must start after what its pod depends on is there:")
    for holds, sentence in results:
        print("  ok  " if holds else " FAIL ", sentence)
    sys.exit(0 if all(holds for holds, _ in results) else 1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
