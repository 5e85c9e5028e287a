// What is known: the last answer of the process, with what follows from it. Knows nothing of the document.

/// How an object can be, the worst first: a word, and what it means.
const STATES = {
  broken: ["broken", "its pods cannot start, or fail again and again; its box says why"],
  failed: ["failed", "it has failed, and what waits for it waits on"],
  cycle: ["cycle", "it is in a cycle: these wait for each other and never start"],
  never: ["never", "it waits for a cycle, or its list cannot be read"],
  missing: ["missing", "it is waited for and is not there"],
  barred: ["no right", "what waits for it may not be told of it: its namespace has not agreed, or sluice may not read its kind"],
  waiting: ["waiting", "its gate, or the hold before it, keeps it back until what it waits for is ready"],
  starting: ["not ready", "nothing holds it back, and it is not ready yet"],
  unknown: ["unknown", "it cannot be judged from here"],
  ready: ["ready", "what waits for it may start"],
  spare: ["not needed", "it is not there, and what names it does without it"],
};
const TROUBLE = ["broken", "failed", "cycle", "never", "missing", "barred", "waiting"];
const DONE = ["ready", "spare"];
const BARRED = ["NotPermitted", "KindForbidden"];

/// The answer with its parts joined: what each object waits on, who waits on it, its gates and times, and how it is.
function derive(view) {
  const nodes = view.nodes.map((node) => ({ ...node, waitsOn: [], waitedBy: [], gates: [], links: [] }));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edges = view.edges.map((edge) => ({ ...edge }));
  for (const edge of edges) {
    const [from, to] = [byId.get(edge.from), byId.get(edge.to)];
    from.waitsOn.push(to);
    from.links.push(edge);
    to.waitedBy.push(from);
  }
  for (const gate of view.gates ?? []) byId.get(gate.of)?.gates.push(gate);
  for (const time of view.times ?? []) byId.get(time.object).time = time;
  for (const node of nodes) {
    node.waiting = node.gates.filter((gate) => !gate.until);
    node.state = stateOf(node);
  }
  const steps = view.criticalPath?.steps ?? [];
  // Before all is ready, the object that was ready last holds nothing up.
  const path = nodes.every((it) => DONE.includes(it.state)) ? steps : [];
  path.forEach((step) => { byId.get(step.object).critical = step; });
  for (const edge of edges) {
    // What is not satisfied holds only what waits at its gate.
    edge.unmet = edge.holds === true;
    edge.holds = edge.unmet && byId.get(edge.from).state === "waiting";
  }
  onPath(path, edges, byId);
  const model = { ...view, nodes, edges, byId, path, steps };
  model.roots = roots(model);
  for (const { node, holds } of model.roots) node.holdsUpMany = holds.size;
  return model;
}

/// Where a reader looks first: what holds up the most, else the worst.
function firstTrouble({ roots: [most], nodes }) {
  return most?.node ?? TROUBLE.map((state) => nodes.find((it) => it.state === state)).find(Boolean);
}

function stateOf(node) {
  if (node.missing) return node.holdsUp === false ? "spare" : "missing";
  if (node.cycle) return "cycle";
  if (node.step === undefined && !node.ready) return "never";
  if (node.status === "Waits") return "waiting";
  if (!node.ready && BARRED.includes(node.reason)) return "barred";
  if (!node.ready && node.rootCause?.broken) return "broken";
  if (node.status === "Failed") return "failed";
  if (node.waiting.length) return "waiting";
  if (node.ready === undefined || node.status === "Unknown") return "unknown";
  return node.ready ? "ready" : "starting";
}

/// Marks the edges of the critical path; between two of its objects a Service may stand, which has no time of its own.
function onPath(path, edges, byId) {
  const edge = (from, to) => edges.find((it) => it.from === from && it.to === to);
  path.slice(1).forEach((step, at) => {
    const [from, to] = [step.object, path[at].object];
    const direct = edge(from, to);
    if (direct) {
      direct.critical = true;
      return;
    }
    const between = byId.get(from).waitsOn.find((it) => edge(it.id, to));
    if (!between) return;
    between.passed = true;
    edge(from, between.id).critical = true;
    edge(between.id, to).critical = true;
  });
}

/// What holds an object back.
function unmet(node, model) {
  return node.links.filter((edge) => edge.unmet).map((edge) => ({ edge, node: model.byId.get(edge.to) }));
}

/// What its gate would be told of what holds it back: `{dependency, status, reason, message}`. Where that is not known, what it
/// depends on and is not ready.
function heldBy(node, model) {
  const said = node.waiting.find((gate) => gate.dependencies);
  if (said) return said.dependencies.filter((it) => !it.satisfied);
  return unmet(node, model).map(({ node: it }) => ({ dependency: it.id, status: it.status ?? STATES[it.state][0], reason: it.reason, message: it.message }));
}

/// What others wait for, and nothing holds back itself: there is what to look at. With all that it holds up.
function roots(model) {
  const idle = (node) => node.holdsUp && !["waiting", "cycle", "never"].includes(node.state) && !unmet(node, model).length;
  const found = model.nodes.filter(idle).map((node) => ({ node, holds: behind(node, model) }));
  return found.filter((it) => it.holds.size).sort((one, other) => other.holds.size - one.holds.size);
}

/// What it holds back, and what those hold back.
function behind(node, model, found = new Set()) {
  for (const edge of model.edges.filter((it) => it.unmet && it.to === node.id)) {
    const next = model.byId.get(edge.from);
    if (next.state === "ready" || found.has(next)) continue;
    found.add(next);
    behind(next, model, found);
  }
  return found;
}

/// Whether the pods of it that wait are held before they take a node.
function isHeld(node) {
  return node.waiting.length > 0 && node.waiting.every((gate) => gate.held);
}

/// When the first of its pods began to wait.
function waitsSince(node) {
  return node.waiting.map((gate) => gate.since).sort()[0];
}

/// Milliseconds since the epoch.
const stamp = (text) => Date.parse(text);

/// `26 s`, `4 min 10 s`, `3 h 5 min`, `2 d 3 h`
function duration(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = parts.findIndex(([size]) => seconds >= size);
  if (first < 0) return "0 s";
  let left = seconds;
  const shown = parts.slice(first, first + 2).map(([size, unit]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count ? `${count} ${unit}` : "";
  });
  return shown.filter(Boolean).join(" ");
}

/// `12:00:26`, with the day where it is another one
function clock(text) {
  const date = new Date(text);
  const time = date.toLocaleTimeString([], { hour12: false });
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString()} ${time}`;
}
