// The panel beside the graph. It tells of the selected object, or gives an overview: the waiting objects, and why they wait.

function drawDetails(model) {
  const panel = find("details");
  const node = model.byId.get(page.selected);
  const subject = node?.id ?? "";
  const top = panel.dataset.subject === subject ? panel.scrollTop : 0;
  const focused = panel.contains(document.activeElement) && document.activeElement.dataset.key;
  panel.dataset.subject = subject;
  panel.replaceChildren(...(node ? ofNode(node, model) : overview(model)));
  panel.scrollTop = top;
  if (focused) panel.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

const section = (title, ...children) => make("section", {}, make("h3", {}, title), ...children);

function badge(node) {
  return make(`span.badge.${node.state}`, {}, icon(node.state), STATES[node.state][0]);
}

/// Writes `Deployment/recommendation` so that a narrow column breaks the line behind the kind, and not within the name.
function breakable(id) {
  const [kind, ...rest] = id.split("/");
  return rest.length ? [`${kind}/`, make("wbr"), rest.join("/")] : [kind];
}

/// A button that selects another object, and further elements in its row.
function link(node, ...after) {
  const button = make("button.link", { type: "button", onclick: () => select(node.id) }, icon(node.state), make("span", {}, ...breakable(node.id)));
  button.dataset.key = node.id;
  return make("div.row", {}, button, ...after);
}

/// A paragraph on the state of an object: `InProgress (JobNotComplete): Job in progress`
function told({ state, status, reason, message, rootCause }) {
  if (rootCause && state !== "ready") return make("p.told", {}, make("b", {}, `Pod ${rootCause.pod}`), ` ${rootCause.message}`);
  if (state === "missing" && (!reason || reason === "NotFound")) return make("p.told", {}, "It is not there.");
  if (state === "spare") return make("p.told", {}, "It is not there, and not needed.");
  if (!status || state === "ready") return "";
  const why = reason && reason !== status ? ` (${reason})` : "";
  return make("p.told", {}, make("b", {}, `${status}${why}`), message ? `: ${message}` : "");
}

/// The dependencies that hold an object back, in the words of its gate, and the note that the gate got.
function held(node, model) {
  const rows = heldBy(node, model).map((it) => make("div.row", {}, make("b", {}, it.dependency), told(it)));
  const notes = node.waiting.map((gate) => gate.note).filter(Boolean).slice(0, 1);
  return [...rows, ...notes.map((note) => make("p.quiet", {}, note))];
}

function ofNode(node, model) {
  const facts = [
    ["Namespace", node.namespace || "(of the cluster)"],
    ["Release", node.scope],
    ["Wave", node.wave],
    ["At once", node.parallelism],
    ["Step", node.step ?? "never"],
  ].filter(([, value]) => value !== undefined);
  return [
    make("header", {},
      make("div", {}, make("span.kind", {}, node.kind), make("h2", {}, node.name)),
      make("button.icon", { type: "button", "aria-label": "Back to the overview", onclick: () => select(undefined) }, "\u00d7")),
    make("p", {}, badge(node), node.critical || node.passed ? make("span.badge.path", {}, "critical path") : ""),
    node.state === "waiting" ? section(isHeld(node) ? "Held before it takes a node, until" : "What its gate waits for", ...held(node, model)) : told(node),
    ...cycles(model, node),
    section("Depends on", ...waits(node, model)),
    section("Waited for by", ...nothing(node.waitedBy.map((it) => link(it)), "nothing")),
    ...(node.gates.length ? [section("Gates", gates(node))] : []),
    ...newsOf(node),
    section("About", make("dl.facts", {}, facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))]))),
    ...commands(node),
  ];
}

const nothing = (rows, word) => (rows.length ? rows : [make("p.quiet", {}, word)]);

function waits(node, model) {
  const rows = node.links.map((edge) => {
    const to = model.byId.get(edge.to);
    const notes = [edge.because, edge.must ? "" : "there is a way around it"].filter(Boolean).join("; ");
    return link(to, notes ? make("span.quiet", {}, notes) : "", node.state === "waiting" ? "" : told(to));
  });
  const others = node.waitsFor.filter((text) => !node.links.some((edge) => text.endsWith(edge.to)));
  const written = others.length && node.kind !== "Service" ? [make("p.quiet", {}, `as it is written: ${node.waitsFor.join(", ")}`)] : [];
  return nothing([...rows, ...written], "nothing");
}

function gates(node) {
  const rows = node.gates.map((gate) => make("tr", {},
    make("td", {}, gate.pod),
    make("td", {}, lasting(gate.since, gate.until)),
    make("td", {}, gate.until ? `open at ${clock(gate.until)}` : `${gate.held ? "held" : gate.stranded ? "stranded" : "waits"} since ${clock(gate.since)}`)));
  const head = make("tr", {}, ...["Pod", "Waited", "State"].map((it) => make("th", { scope: "col" }, it)));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, rows));
}

/// The command for a terminal that tells more of an object's pod; none for an object without gates.
function commands(node) {
  const pod = (node.waiting[0] ?? node.gates[0])?.pod;
  if (!pod) return [];
  const command = `kubectl sluice status ${pod} -n ${node.namespace}`;
  return [section("In a terminal", make("div.command", {}, make("code", {}, command), copyButton("copy", () => command)))];
}

function cycles(model, node) {
  return model.cycles.filter((cycle) => isIn(node, cycle)).map((cycle) => cycleCard(cycle, model));
}

/// Whether an object is in a cycle: `Deployment a -> Deployment b -> Deployment a`.
const isIn = (node, { path }) => `-> ${path} `.includes(`-> ${node.kind} ${node.name} `);

/// A card that tells of a cycle. A click selects the first object of the cycle, and each further click the next one.
function cycleCard(cycle, model) {
  const all = model.nodes.filter((it) => it.cycle && isIn(it, cycle));
  const next = () => all[(all.findIndex((it) => it.id === page.selected) + 1) % all.length]?.id;
  const card = make("button.card.cycle", { type: "button", onclick: () => select(next()) },
    make("b", {}, "These wait for each other and never start"),
    make("span", {}, cycle.path), make("span", {}, `Way out: ${cycle.wayOut}.`));
  card.dataset.key = cycle.path;
  return card;
}

/// The panel while no object is selected: cycles, root causes, waiting and broken objects, the critical path, and a list of all objects.
function overview(model) {
  const of = (...states) => model.nodes.filter((it) => states.includes(it.state));
  const [failed, never] = [of("broken", "failed"), of("never")];
  const since = (it) => waitsSince(it) ?? "";
  const waiting = of("waiting").sort((one, other) => since(one).localeCompare(since(other)));
  const done = model.nodes.length > 0 && model.nodes.every((it) => DONE.includes(it.state));
  const title = done ? "Everything is ready" : waiting.length ? "What waits, and for what" : failed.length ? "What is broken" : "Overview";
  const causes = model.roots;
  const alone = failed.filter((it) => !causes.some((cause) => cause.node === it));
  return [
    make("header", {}, make("div", {}, make("span.kind", {}, model.release ? `release ${model.release}` : `namespace ${model.namespace}`), make("h2", {}, title))),
    ...model.cycles.map((cycle) => cycleCard(cycle, model)),
    ...(causes.length ? [section("What holds the others up", ...causes.map(rootCause))] : []),
    ...(waiting.length ? [section("Waiting", ...waiting.map((it) => whyWaiting(it, model)))] : []),
    ...(alone.length ? [section("Broken", ...alone.map((it) => link(it, told(it))))] : []),
    ...(never.length ? [section("Never starts", ...never.map((it) => link(it)))] : []),
    ...critical(model),
    ...unseen(model),
    make("section.all", {}, make("h3", {}, "All objects"), ...byState(model).map((it) => link(it, make("span.since", {}, STATES[it.state][0])))),
    section("Take it along", make("div.take", {}, copyButton("Copy for Mermaid", mermaidText), copyButton("Copy as SVG", () => svgText(model)))),
  ];
}

/// A row for a root cause. A click selects its object, where the graph has it.
function rootCause({ node, object, message, pods }) {
  const count = make("span.since", {}, holdsUp(pods));
  return node ? link(node, count, told(node)) : make("div.row", {}, make("b", {}, object), count, make("p.told", {}, message));
}

/// The objects that pass the filter, the worst state first; of one state in the order in which they start.
function byState(model) {
  const place = (node) => Object.keys(STATES).indexOf(node.state);
  return model.nodes.filter(passes).sort((one, other) => place(one) - place(other));
}

function whyWaiting(node, model) {
  const rows = heldBy(node, model).map(({ dependency, reason }) => {
    const state = model.byId.get(dependency)?.state;
    const word = ["broken", "waiting"].includes(state) ? STATES[state][0] : reason;
    return make("li", {}, dependency, word ? `: ${word}` : "");
  });
  return link(node, make("span.since", {}, lasting(waitsSince(node))), rows.length ? make("ul.quiet", {}, rows) : "");
}

const unseen = ({ warnings }) => (warnings.length ? [make("div.card.warning", {},
  make("b", {}, "What could not be seen"), make("ul", {}, warnings.map((text) => make("li", {}, text))))] : []);

function critical(model) {
  if (!model.path.length) return [];
  const steps = model.path.map((step) => link(model.byId.get(step.object), make("span.since", {}, `${step.seconds} s`)));
  const { seconds } = model.criticalPath;
  const last = model.path.at(-1).object;
  return [section("Critical path",
    make("p.quiet", {}, `${duration(seconds * 1000)} until ${last} was ready, the last one`),
    ...steps)];
}
