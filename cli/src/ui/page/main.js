// The page as a whole: it hears the process, keeps the selection and the filter, and handles the keys.

const page = { model: undefined, selected: undefined, only: new Set(), text: "", offset: 0, spoken: "" };
const base = location.pathname.replace(/\/?$/, "/");

/// The present time in milliseconds since 1970, by the clock of the process, since the clock of the browser may differ.
function now() {
  return Date.now() + page.offset;
}

function passes(node) {
  const words = [node.id, node.status, node.reason, node.scope, STATES[node.state][0]].join(" ").toLowerCase();
  return (!page.only.size || page.only.has(node.state)) && words.includes(page.text);
}

/// Selects an object and scrolls to it; shows the overview for an unknown or missing `id`.
function select(id) {
  page.selected = page.model?.byId.has(id) ? id : undefined;
  keep();
  draw();
  if (!page.selected) return;
  const shown = [graph.boxes.get(id), find("timeline").querySelector(".chosen")];
  for (const element of shown) element?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/// Writes the selection into the address, so a reload or a shared address shows the same object.
function keep() {
  const to = `${location.pathname}${location.search}${page.selected ? `#${encodeURIComponent(page.selected)}` : ""}`;
  history.replaceState(undefined, "", to);
}

const kept = () => decodeURIComponent(location.hash.slice(1)) || undefined;

function draw() {
  const { model } = page;
  if (!model) return;
  if (!model.byId.has(page.selected)) page.selected = undefined;
  document.body.classList.toggle("empty", !model.nodes.length);
  find("blank").replaceChildren(...(model.nodes.length ? [] : [nobody(model)]));
  drawDetails(model);
  drawTimeline(model);
  drawCounts(model);
  // Last, because the others leave it the room that it fits into.
  graph.draw(model);
}

function nobody(model) {
  const { namespace, release, releases } = model;
  const what = release ? `No workload of release ${release}` : "No workload";
  const way = release && releases.length ? `There are ${releases.join(", ")}; choose one above.` : "Choose another namespace above. What is applied here shows up by itself.";
  return make("div", {}, make("h2", {}, `${what} in namespace ${namespace}`), make("p", {}, way), ...unseen(model));
}

function drawCounts(model) {
  const count = (state) => model.nodes.filter((it) => it.state === state).length;
  const chips = Object.keys(STATES).filter((state) => count(state) || page.only.has(state)).map((state) => {
    const toggle = () => {
      if (!page.only.delete(state)) page.only.add(state);
      draw();
    };
    const pressed = String(page.only.has(state));
    const chip = make(`button.chip.${state}`, { type: "button", "aria-pressed": pressed, onclick: toggle }, icon(state), make("b", {}, String(count(state))), STATES[state][0]);
    chip.dataset.key = state;
    return chip;
  });
  const focused = find("counts").contains(document.activeElement) && document.activeElement.dataset.key;
  find("counts").replaceChildren(...chips);
  if (focused) find("counts").querySelector(`[data-key="${focused}"]`)?.focus();
  const worst = ["broken", "waiting"].find(count);
  document.title = `${worst ? `${count(worst)} ${worst}` : "sluice"} \u00b7 ${model.release ?? model.namespace}`;
  const spoken = chips.map(({ dataset: { key } }) => `${count(key)} ${STATES[key][0]}`).join(", ");
  if (spoken !== page.spoken) find("spoken").textContent = page.spoken = spoken;
}

// Answers of the process.

const ENDED = "kubectl sluice ui does not answer";
let source;

function listen() {
  source?.close();
  connection("connecting", "connecting");
  source = new EventSource(`${base}api/live${location.search}`);
  source.onmessage = (event) => hear(JSON.parse(event.data));
  source.onerror = () => {
    // The browser repeats a request that broke off, but not one that was refused.
    if (source.readyState === EventSource.CLOSED) refused();
    else lost(ENDED, "If it was ended, start it again and open the address that it prints; if not, this page goes on by itself.");
  };
}

function hear(view) {
  page.offset = stamp(view.at) - Date.now();
  if (view.error) {
    if (!page.model) controls(view);
    lost(`Namespace ${view.namespace} cannot be shown`, `${view.error}. It is tried again until it can; see whether kubectl get pods -n ${view.namespace} does better.`);
    return;
  }
  connection("live", "live");
  find("notice").hidden = true;
  document.body.classList.remove("stale");
  page.model = derive(view);
  if (graph.begins && page.model.byId.has(kept())) page.selected = kept();
  controls(view);
  draw();
}

async function refused() {
  const answer = await fetch(`${base}api/graph${location.search}`).catch(() => undefined);
  if (answer) lost("This cannot be shown", await answer.text());
  else lost(ENDED, "Start it again and open the address that it prints.");
  setTimeout(listen, 3000);
}

/// Shows a notice that no news comes. The last graph stays, and the notice tells its time.
function lost(what, why) {
  connection("lost", "not live");
  document.body.classList.add("stale");
  const last = page.model ? make("div.quiet", {}, `Shown is how it was at ${clock(page.model.at)}.`) : "";
  const sentence = why.charAt(0).toUpperCase() + why.slice(1);
  find("notice").replaceChildren(icon("failed"), make("div", {}, make("b", {}, what), sentence, last));
  find("notice").hidden = false;
  if (!page.model) find("blank").replaceChildren(make("div", {}, make("h2", {}, "There is nothing to show yet"), make("p", {}, "This page shows the graph as soon as the cluster can be read.")));
}

function connection(state, text) {
  if (find("live").textContent === text) return;
  find("live").className = `live ${state}`;
  find("live").textContent = text;
}

// The choices of the user: namespace, release, colours, filter.

function controls(view) {
  const fields = [find("namespace"), find("release")];
  if (fields.includes(document.activeElement)) return;
  find("namespace").value = view.namespace;
  const names = [...new Set([...(view.releases ?? []), ...(view.release ? [view.release] : [])])];
  find("release").replaceChildren(make("option", { value: "" }, "all"), ...names.map((name) => make("option", { value: name }, name)));
  find("release").value = view.release ?? "";
  find("release").disabled = !names.length;
}

function show(namespace, release) {
  const query = new URLSearchParams(release ? { namespace, release } : { namespace });
  history.pushState(undefined, "", `${base}?${query}`);
  again();
}

/// Begins anew for another namespace or release: forgets the graph, the selection and the filter of states.
function again() {
  Object.assign(page, { model: undefined, selected: undefined, only: new Set() });
  graph.shape = "";
  Object.assign(graph, { fits: true, begins: true, touched: false });
  find("blank").replaceChildren(make("div.loading", {}, "Reading the cluster\u2026"));
  document.body.classList.add("empty");
  find("timeline").hidden = true;
  find("details").replaceChildren();
  find("counts").replaceChildren();
  listen();
}

const THEMES = { auto: "as the system has them", light: "light", dark: "dark" };

function theme(name) {
  document.documentElement.dataset.theme = name;
  find("theme").setAttribute("aria-label", `Colours: ${THEMES[name]}`);
  find("theme").title = `Colours: ${THEMES[name]}`;
  find("theme").querySelector("use").setAttribute("href", `#i-${name}`);
}

function nextTheme() {
  const names = Object.keys(THEMES);
  theme(names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length]);
}

function nextTrouble() {
  // The objects of root causes come first.
  const { roots, nodes } = page.model;
  const all = [...new Set([...roots.map((it) => it.node).filter(Boolean), ...nodes.filter((it) => TROUBLE.includes(it.state))])];
  const next = all[(all.findIndex((it) => it.id === page.selected) + 1) % all.length];
  if (!next) return;
  select(next.id);
  graph.focus(next.id);
}

function back() {
  if (page.text || page.only.size) {
    find("filter").value = page.text = "";
    page.only.clear();
  } else page.selected = undefined;
  keep();
  draw();
}

const KEYS = {
  "/": () => find("filter").focus(),
  "?": () => find("help").showModal(),
  "+": () => graph.zoom(1.2),
  "=": () => graph.zoom(1.2),
  "-": () => graph.zoom(1 / 1.2),
  0: () => graph.fit(),
  t: nextTheme,
  w: nextTrouble,
  Escape: back,
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || find("help").open) return;
  const typing = event.target.matches("input, select");
  if (typing && event.key !== "Escape") return;
  if (typing) event.target.blur();
  const onBox = document.activeElement.classList.contains("box");
  if (event.key.startsWith("Arrow") && onBox) {
    graph.step(event.key, page.model);
    event.preventDefault();
  } else if (Object.hasOwn(KEYS, event.key) && (page.model || event.key === "?" || event.key === "t")) {
    KEYS[event.key]();
    event.preventDefault();
  }
}

/// Updates, once a second, the durations of waits that go on and the timeline that runs on.
function tick() {
  for (const element of document.querySelectorAll(".lasting:not([data-until])")) {
    element.textContent = duration(now() - stamp(element.dataset.since));
  }
  if (page.model && !document.body.classList.contains("stale") && span(page.model)?.running) drawTimeline(page.model);
}

function pan(down) {
  const area = find("graph");
  if (down.button !== 0 || down.target.closest("button")) return;
  const from = { x: down.clientX + area.scrollLeft, y: down.clientY + area.scrollTop };
  const move = (event) => area.scrollTo(from.x - event.clientX, from.y - event.clientY);
  area.addEventListener("pointermove", move);
  area.setPointerCapture(down.pointerId);
  area.addEventListener("pointerup", () => area.removeEventListener("pointermove", move), { once: true });
}

find("states").append(...Object.entries(STATES).flatMap(([state, [word, meaning]]) =>
  [make("dt", {}, icon(state), word), make("dd", {}, meaning)]));
find("namespace").addEventListener("change", (event) => show(event.target.value.trim()));
find("release").addEventListener("change", (event) => show(page.model.namespace, event.target.value));
find("filter").addEventListener("input", (event) => {
  page.text = event.target.value.trim().toLowerCase();
  draw();
});
find("theme").addEventListener("click", nextTheme);
find("help-open").addEventListener("click", KEYS["?"]);
find("smaller").addEventListener("click", KEYS["-"]);
find("larger").addEventListener("click", KEYS["+"]);
find("fit").addEventListener("click", KEYS[0]);
find("graph").addEventListener("pointerdown", pan);
find("graph").addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  graph.zoom(event.deltaY < 0 ? 1.1 : 1 / 1.1);
}, { passive: false });
document.addEventListener("keydown", pressed);
for (const touch of ["pointerdown", "wheel", "keydown"]) addEventListener(touch, () => (graph.touched = true), { passive: true, capture: true });
// A hidden page asks nothing, so it costs the cluster nothing.
document.addEventListener("visibilitychange", () => (document.hidden ? source?.close() : listen()));
addEventListener("popstate", again);
new ResizeObserver(() => graph.resized()).observe(find("graph"));
theme("auto");
fetch(`${base}api/namespaces`).then((it) => it.json()).then((names) => {
  find("namespaces").replaceChildren(...names.map((name) => make("option", { value: name })));
}).catch(() => {});
setInterval(tick, 1000);
again();
