// The timeline: for each object the times at which it waited, started and was ready.

const DAY = 86400;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, DAY, 2 * DAY, 7 * DAY, 30 * DAY];

/// The time that the timeline shows, in milliseconds since 1970, and whether it runs on: that of the waits that go on and of the critical
/// path, else that since the first start. `undefined` where no time is known.
function span(model) {
  const waits = model.nodes.flatMap((it) => it.waiting).map((gate) => stamp(gate.since));
  const [first, last] = [model.steps[0], model.steps.at(-1)].map((it) => it && stamp(it === model.steps[0] ? it.from : it.until));
  const running = waits.length > 0 || model.nodes.some((it) => it.state === "starting" && it.time?.started);
  const end = running || last === undefined ? now() : last;
  const begins = [...waits, ...(first === undefined ? [] : [first])];
  if (!begins.length) {
    const times = model.nodes.flatMap((it) => it.time?.started ?? []).map(stamp);
    return times.length ? { from: Math.min(...times), to: end } : undefined;
  }
  let from = Math.min(...begins);
  // An object that started within the minute before is shown from its start on.
  const started = model.nodes.flatMap((it) => it.time?.started ?? []).map(stamp);
  from = Math.min(from, ...started.filter((it) => from - it < 60e3));
  // Hours of the past would leave too little width for the present waits.
  if (waits.length && end - from > 6 * 3600e3) from = Math.min(...waits);
  const width = Math.max(end - from, 5000);
  return { from, to: from + width * 1.04, running };
}

function drawTimeline(model) {
  const area = find("timeline");
  const shown = span(model);
  const shows = (it) => it.time && (it.time.started || it.waiting.length) && passes(it);
  // Broken objects come first: the window may have no room for all rows.
  const rows = model.nodes.filter(shows).sort((one, other) => isBroken(other) - isBroken(one));
  area.hidden = !shown || !rows.length;
  if (area.hidden) return;
  const at = (time) => Math.min(100, Math.max(0, ((time - shown.from) / (shown.to - shown.from)) * 100));
  const top = area.querySelector(".rows")?.scrollTop ?? 0;
  const focused = area.contains(document.activeElement) && document.activeElement.dataset.key;
  area.replaceChildren(
    make("header", {}, make("h2", {}, "Timeline"), key(rows), make("span.quiet", {}, `from ${clock(new Date(shown.from).toISOString())}`)),
    make("div.rows", {}, axis(shown, at), ...rows.map((node) => row(node, shown, at))),
  );
  area.querySelector(".rows").scrollTop = top;
  if (focused) area.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

/// The key to the colours of the bars that are drawn.
function key(rows) {
  const entry = (name, text) => make("span", {}, make(`i.bar.${name}`), text);
  const broken = rows.some((it) => isBroken(it)) ? [entry("failed", "broken")] : [];
  const path = rows.some((it) => it.critical) ? [entry("path", "critical path")] : [];
  return make("span.key", { "aria-hidden": "true" }, entry("waited", "waited"), entry("started", "starting"), ...broken, entry("done", "ready"), ...path);
}

const isBroken = (node) => ["failed", "broken"].includes(node.state);

function axis(shown, at) {
  const seconds = (shown.to - shown.from) / 1000;
  const step = STEPS.find((it) => seconds / it <= 9) ?? STEPS.at(-1) * Math.ceil(seconds / STEPS.at(-1) / 9);
  const ticks = [];
  for (let tick = 0; tick <= seconds * 0.92; tick += step) {
    const mark = make("span.tick", {}, tick ? duration(tick * 1000) : "0");
    mark.style.left = `${at(shown.from + tick * 1000)}%`;
    ticks.push(mark);
  }
  return make("div.line-of.axis", { "aria-hidden": "true" }, make("span"), make("div.track", {}, ticks));
}

function row(node, shown, at) {
  const { started, opened, ready } = node.time;
  const waits = node.waiting.length ? waitsSince(node) : undefined;
  const start = stamp(waits ?? started);
  const run = waits ? undefined : opened ?? started;
  const done = waits ? undefined : ready;
  const bars = [
    (waits || opened) && bar("waited", start, waits ? now() : stamp(opened), at),
    run && bar(isBroken(node) ? "failed" : "started", stamp(run), done ? stamp(done) : now(), at),
    done && bar("done", stamp(done), shown.running ? now() : shown.to, at),
    node.critical && bar("path", stamp(node.critical.from), stamp(node.critical.until), at),
  ];
  const words = [
    waits ? `waits for ${duration(now() - start)}` : opened ? `waited ${duration(stamp(opened) - start)}` : "",
    run && done ? `ready after ${duration(stamp(done) - stamp(run))}` : run ? (isBroken(node) ? node.state : "not ready yet") : "",
  ].filter(Boolean).join(", then ");
  const line = make("button.line-of", { type: "button", title: `${node.id}: ${words}`, "aria-label": `${node.id}: ${words}`, onclick: () => select(node.id) },
    make("span.label", {}, icon(node.state), make("span", {}, node.id)), make("div.track", {}, bars.filter(Boolean)));
  line.dataset.key = node.id;
  line.classList.toggle("chosen", node.id === page.selected);
  return line;
}

function bar(name, from, to, at) {
  const [left, right] = [at(from), at(Math.max(from, to))];
  if (right <= 0 || left >= 100) return undefined;
  const element = make(`i.bar.${name}`);
  element.style.left = `${left}%`;
  element.style.width = `max(3px, ${right - left}%)`;
  return element;
}
