// The model that the page draws: the last answer of the process, with facts that follow from it. Nothing here touches the document.

/// The states of an object, the worst first: for each the word that the page shows, and its meaning.
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

/// Makes the model of an answer: joins to each object its dependencies, its dependents, its gates, its times and its state.
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
  // The path ends at the object that was ready last. While another object is not ready, that path explains no delay.
  const path = nodes.every((it) => DONE.includes(it.state)) ? steps : [];
  path.forEach((step) => { byId.get(step.object).critical = step; });
  for (const edge of edges) {
    // An edge that is not satisfied holds an object back only while the pods of that object wait at their gates.
    edge.unmet = edge.holds === true;
    edge.holds = edge.unmet && byId.get(edge.from).state === "waiting";
  }
  onPath(path, edges, byId);
  const model = { ...view, nodes, edges, byId, path, steps };
  model.roots = roots(model);
  for (const { node, pods } of model.roots) if (node) node.holdsUpMany ??= pods;
  model.most = model.roots.map((it) => it.node).find(Boolean);
  return model;
}

/// The object to look at first: the one that holds up the most pods, else the first in the worst state; `undefined` without trouble.
function firstTrouble({ most, nodes }) {
  return most ?? TROUBLE.map((state) => nodes.find((it) => it.state === state)).find(Boolean);
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

/// Marks the edges of the critical path. Between two objects of the path a Service may stand, which has no time of its own.
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

/// The edges of an object that are not satisfied, each with the dependency that it leads to.
function unmet(node, model) {
  return node.links.filter((edge) => edge.unmet).map((edge) => ({ edge, node: model.byId.get(edge.to) }));
}

/// The dependencies that hold an object back, in the words that its gate is told: `{dependency, status, reason, message}`. Where no gate
/// has told its words, the dependencies that are not ready. No dependency holds a stranded pod back.
function heldBy(node, model) {
  const said = node.waiting.find((gate) => gate.dependencies);
  if (said) return said.dependencies.filter((it) => !it.satisfied);
  if (node.waiting.some((gate) => gate.stranded)) return [];
  return unmet(node, model).map(({ node: it }) => ({ dependency: it.id, status: it.status ?? STATES[it.state][0], reason: it.reason, message: it.message }));
}

/// The root causes as `status` and `graph` count them, the one with the most pods first, each with its object where the graph has it.
function roots(model) {
  return (model.rootCauses ?? []).map((cause) => ({ ...cause, node: objectOf(cause, model) }));
}

/// The object of a root cause: the one whose pod is in trouble, else the one that the entry of a list names.
function objectOf({ object, pod }, { nodes, byId }) {
  const ofPod = pod && nodes.find((it) => it.rootCause?.pod === pod);
  return ofPod || (byId.get(object) ?? byId.get(object.replace(/ \(node rule\)$|:[a-z]+$/, "")));
}

/// Writes the number of pods that an object holds up: `holds up 2 pods`
const holdsUp = (pods) => `holds up ${pods} ${pods === 1 ? "pod" : "pods"}`;

/// Whether all waiting pods of an object are held, so none of them takes a node.
function isHeld(node) {
  return node.waiting.length > 0 && node.waiting.every((gate) => gate.held);
}

/// The time at which the first waiting pod of an object began to wait.
function waitsSince(node) {
  return node.waiting.map((gate) => gate.since).sort()[0];
}

/// The milliseconds since 1970 of a time as text.
const stamp = (text) => Date.parse(text);

/// Writes a duration with its two largest units: `26 s`, `4 min 10 s`, `3 h 5 min`, `2 d 3 h`
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

/// Writes a time as `12:00:26`, with the day where that is not today.
function clock(text) {
  const date = new Date(text);
  const time = date.toLocaleTimeString([], { hour12: false });
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString()} ${time}`;
}
