// The graph: a box for each object, and a line for each edge. A box is a button that selects its object.

const find = (id) => document.getElementById(id);

/// Makes an element with properties and children. A child that is a text becomes a text node, so markup in it has no effect.
function make(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((it) => it !== undefined && it !== ""));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `mark ${name}`);
  svg.append(use);
  return svg;
}

/// The duration of a wait. `tick` updates it while the wait goes on, that is without `until`.
function lasting(since, until) {
  const element = make("span.lasting", { "data-since": since, "data-until": until });
  element.textContent = duration((until ? stamp(until) : now()) - stamp(since));
  return element;
}

/// The least scale to which the whole graph is fitted into the window. In a smaller one the boxes cannot be read.
const LEAST = 0.5;

const graph = {
  scale: 1,
  /// Whether the graph is fitted into the window: the user has chosen no scale.
  fits: true,
  /// Whether the next drawing is the first one of a namespace or release.
  begins: true,
  /// Whether the user has clicked, scrolled or typed. From then on the page does not scroll by itself.
  touched: false,
  /// Whether the page has scrolled to an object in trouble.
  showsTrouble: false,
  boxes: new Map(),
  shape: "",
  /// The size of the window, with its scroll bars.
  room: "",
  places: new Map(),

  draw(model) {
    const drawn = model.edges.filter((edge) => edge.cycle || !edge.implied);
    const shape = JSON.stringify([model.nodes.map((it) => [it.id, it.step]), drawn.map((it) => [it.from, it.to])]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.laid = layout(model.nodes, drawn);
      this.places = this.laid.places;
      if (this.fits) this.fit();
      else this.resize();
    }
    this.drawBoxes(model);
    this.drawLines(new Map(drawn.map((edge) => [`${edge.from} ${edge.to}`, edge])));
    this.mark(model);
    map.draw(model);
    // The page scrolls to trouble that begins later, too.
    const trouble = !this.showsTrouble && !this.touched && firstTrouble(model);
    if (this.begins || trouble) this.look(model);
  },

  /// Scrolls to the selected object, else to the one in the worst trouble.
  look(model) {
    this.begins = false;
    const trouble = firstTrouble(model);
    this.showsTrouble = Boolean(trouble);
    const first = model.byId.get(page.selected) ?? trouble;
    this.boxes.get(first?.id)?.scrollIntoView({ block: "center", inline: "center" });
  },

  drawBoxes(model) {
    for (const [id, box] of this.boxes) {
      if (!model.byId.has(id)) {
        box.remove();
        this.boxes.delete(id);
      }
    }
    for (const node of model.nodes) {
      let box = this.boxes.get(node.id);
      if (!box) {
        box = make("button", { type: "button", tabindex: "-1", onclick: () => select(node.id) });
        box.dataset.id = node.id;
        this.boxes.set(node.id, box);
        find("nodes").append(box);
      }
      const { x, y } = this.places.get(node.id);
      box.style.transform = `translate(${x}px, ${y}px)`;
      const most = model.most === node;
      box.className = ["box", node.state, node.critical || node.passed ? "critical" : "", most ? "most" : "", isAway(node, model) ? "foreign" : ""].join(" ");
      box.title = node.id;
      box.replaceChildren(
        icon(node.state),
        make("span.kind", {}, make("span", {}, node.kind), ...away(node, model), ...tag(node, model)),
        make("span.name", {}, node.name),
        make("span.why", {}, ...why(node, model)),
        make("span.spoken", {}, spoken(node, model)),
      );
    }
  },

  drawLines(edges) {
    const lines = this.laid.lines.map(({ edge, path }) => {
      const line = document.createElementNS(SVG, "path");
      const now = edges.get(`${edge.from} ${edge.to}`);
      const classes = ["cycle", "critical", "holds"].filter((it) => now[it]);
      line.setAttribute("class", ["line", now.must ? "" : "around", ...classes].join(" "));
      line.setAttribute("d", path);
      line.setAttribute("marker-start", "url(#arrow)");
      line.dataset.from = edge.from;
      line.dataset.to = edge.to;
      return line;
    });
    // Lines that hold an object back, or belong to a path or a cycle, are drawn last, so above the others.
    const weight = (line) => ["holds", "critical", "cycle"].filter((it) => line.classList.contains(it)).length;
    lines.sort((one, other) => weight(one) - weight(other));
    find("lines").replaceChildren(...lines);
  },

  /// Marks the selected object and its neighbours, and dims the others and those that the filter leaves out.
  mark(model) {
    const chosen = model.byId.get(page.selected);
    const near = chosen && new Set([chosen, ...chosen.waitsOn, ...chosen.waitedBy].map((it) => it.id));
    const first = page.selected ?? model.nodes.find((it) => TROUBLE.includes(it.state))?.id ?? model.nodes[0]?.id;
    for (const node of model.nodes) {
      const box = this.boxes.get(node.id);
      const dim = !passes(node) || (near && !near.has(node.id));
      box.classList.toggle("dim", Boolean(dim));
      box.setAttribute("aria-pressed", String(node.id === page.selected));
      if (!find("nodes").contains(document.activeElement)) box.tabIndex = node.id === first ? 0 : -1;
    }
    for (const line of find("lines").children) {
      const { from, to } = line.dataset;
      const of = chosen && (from === chosen.id || to === chosen.id);
      const hidden = ![from, to].every((id) => passes(model.byId.get(id)));
      line.classList.toggle("near", Boolean(of));
      line.classList.toggle("dim", hidden || Boolean(chosen && !of));
    }
  },

  /// Fits the whole graph into the window, unless its boxes could not be read then.
  fit() {
    this.fits = true;
    const { clientWidth, clientHeight } = find("graph");
    const [wide, high] = [clientWidth / this.laid.width, clientHeight / this.laid.height];
    // A graph that is too large for the window is scrolled anyway, so the scale takes the width alone into account.
    const scale = Math.min(wide, high) < LEAST ? Math.min(0.75, Math.max(wide, LEAST)) : Math.min(wide, high);
    this.rescale(Math.min(1, scale));
  },

  zoom(factor) {
    this.fits = false;
    this.rescale(Math.min(2, Math.max(0.25, this.scale * factor)));
  },

  /// Sets the size, and keeps what is in the middle there.
  rescale(scale) {
    const area = find("graph");
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = area;
    const by = scale / this.scale;
    const middle = (start, size) => (this.begins ? 0 : (start + size / 2) * by - size / 2);
    this.scale = scale;
    this.resize();
    area.scrollTo(middle(scrollLeft, clientWidth), middle(scrollTop, clientHeight));
  },

  /// The window, or the timeline below the graph, has another size.
  resized() {
    const { offsetWidth, offsetHeight } = find("graph");
    // A scroll bar that comes or goes is no other size: to fit the graph again could bring it back, and so on.
    if (!page.model || `${offsetWidth} ${offsetHeight}` === this.room) return;
    this.room = `${offsetWidth} ${offsetHeight}`;
    if (this.fits) this.fit();
    else map.follow();
    if (!this.touched) this.look(page.model);
  },

  resize() {
    const { width, height } = this.laid;
    const world = find("world");
    world.style.width = `${width * this.scale}px`;
    world.style.height = `${height * this.scale}px`;
    find("stage").style.transform = `scale(${this.scale})`;
    find("stage").classList.toggle("far", this.scale < 0.8);
    find("edges").setAttribute("width", width);
    find("edges").setAttribute("height", height);
    const percent = `${Math.round(this.scale * 100)} %`;
    find("fit").textContent = percent;
    find("fit").setAttribute("aria-label", `${percent}: fit the graph into the window`);
    map.follow();
  },

  /// Moves the keyboard focus to the box of an object.
  focus(id) {
    const box = this.boxes.get(id);
    if (!box) return;
    for (const other of this.boxes.values()) other.tabIndex = -1;
    box.tabIndex = 0;
    box.focus({ preventScroll: true });
    box.scrollIntoView({ block: "nearest", inline: "nearest" });
  },

  /// Moves the focus by an arrow key: to the left and right along an edge, up and down within the column.
  step(key, model) {
    const from = model.byId.get(document.activeElement.dataset.id);
    const { y, rank } = this.places.get(from.id);
    const near = { ArrowLeft: from.waitsOn, ArrowRight: from.waitedBy }[key];
    const others = near ?? model.nodes.filter((it) => this.places.get(it.id).rank === rank && it !== from);
    const away = (it) => this.places.get(it.id).y - y;
    const ahead = { ArrowUp: (it) => away(it) < 0, ArrowDown: (it) => away(it) > 0 }[key] ?? (() => true);
    const nearest = others.filter(ahead).sort((one, other) => Math.abs(away(one)) - Math.abs(away(other)));
    if (nearest[0]) this.focus(nearest[0].id);
  },
};

const isAway = (node, model) => Boolean(node.namespace) && node.namespace !== model.namespace;

/// The namespace of an object, where the graph is of another one.
function away(node, model) {
  return isAway(node, model) ? [make("span.away", { title: `in namespace ${node.namespace}` }, node.namespace)] : [];
}

/// The number of pods that an object holds up, else its wave where the graph has several.
function tag(node, model) {
  if (node.holdsUpMany) return [make("span.many", { title: holdsUp(node.holdsUpMany) }, `holds ${node.holdsUpMany}`)];
  const weighs = model.nodes.some((it) => it.wave);
  return weighs && node.wave !== undefined ? [make("span.wave", {}, `wave ${node.wave}`)] : [];
}

/// The line below the name in a box: why the object is in its state.
function why(node, model) {
  if (node.state === "waiting") {
    const [first, ...others] = heldBy(node, model).map((it) => it.dependency.split("/").at(-1));
    // The duration stands first, because the end of a long line is cut off; the line of the edge shows the name too.
    const what = first ? ` for ${first}${others.length ? ` and ${others.length} more` : ""}` : "";
    return [isHeld(node) ? "held " : "", lasting(waitsSince(node)), what];
  }
  if (node.state === "ready") {
    const { started, opened, ready } = node.time ?? {};
    const from = opened ?? started;
    if (node.reason === "Remembered") return ["completed, and removed since"];
    return [from && ready ? `ready after ${duration(stamp(ready) - stamp(from))}` : "ready"];
  }
  if (node.rootCause) return [brief(node.rootCause.message)];
  if (node.state === "cycle") return ["waits for itself"];
  if (node.state === "never") return ["never starts"];
  if (node.state === "missing" && (!node.reason || node.reason === "NotFound")) return ["it is not there"];
  if (node.state === "spare") return ["not there, and not needed"];
  return [node.reason && node.reason !== "Satisfied" ? node.reason : STATES[node.state][0]];
}

/// Shortens the words of a cause by the registry and the path of an image: `cannot pull postgres:17.9: not found`
const brief = (message) => message.replace(/\bimage (\S*\/)?(?=\S)/, "");

/// The facts that a box shows by colour and place, as words for a screen reader. They follow the words that the box shows.
function spoken(node, model) {
  const held = heldBy(node, model).map((it) => it.dependency).join(", ");
  const parts = ["", STATES[node.state][0], node.state === "ready" ? "" : node.rootCause?.message ?? node.reason ?? ""];
  if (isAway(node, model)) parts.push(`in namespace ${node.namespace}`);
  if (node.holdsUpMany) parts.push(holdsUp(node.holdsUpMany));
  if (isHeld(node)) parts.push("held before it takes a node");
  if (node.waiting.length && held) parts.push(`waits for ${held}`);
  if (node.critical) parts.push("on the critical path");
  return parts.filter((it, at) => it || at === 0).join(", ");
}
