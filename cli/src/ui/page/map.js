// The overview map: all boxes of the graph, and a frame around the part that the window shows. The map stands beside the graph, because
// over it the map would hide boxes, and is hidden while the window shows the whole graph.

const MAP = { width: 316, height: 130 };

const map = {
  scale: 1,

  draw(model) {
    const { width, height } = graph.laid;
    this.scale = Math.min(MAP.width / width, MAP.height / height);
    const boxes = model.nodes.map((node) => {
      const { x, y } = graph.places.get(node.id);
      return this.rect(node.state, x, y, BOX.width, BOX.height);
    });
    this.frame = this.rect("frame", 0, 0, 0, 0);
    const drawing = find("map-drawing");
    drawing.setAttribute("width", width * this.scale);
    drawing.setAttribute("height", height * this.scale);
    drawing.replaceChildren(...boxes, this.frame);
    this.follow();
  },

  rect(name, x, y, width, height) {
    const rect = document.createElementNS(SVG, "rect");
    rect.setAttribute("class", name);
    for (const [key, value] of Object.entries({ x, y, width, height })) rect.setAttribute(key, value * this.scale);
    return rect;
  },

  /// Draws the frame around the part of the graph that the window shows.
  follow() {
    const area = find("graph");
    const whole = area.scrollWidth <= area.clientWidth + 1 && area.scrollHeight <= area.clientHeight + 1;
    find("map").hidden = whole || !this.frame;
    if (whole || !this.frame) return;
    const of = { x: area.scrollLeft, y: area.scrollTop, width: area.clientWidth, height: area.clientHeight };
    for (const [key, value] of Object.entries(of)) this.frame.setAttribute(key, (value / graph.scale) * this.scale);
  },

  /// Scrolls the graph to the point of the map that was clicked.
  go(event) {
    if (!event.buttons && event.type !== "pointerdown") return;
    const { left, top } = find("map-drawing").getBoundingClientRect();
    const area = find("graph");
    const to = (at, size) => (at / this.scale) * graph.scale - size / 2;
    area.scrollTo(to(event.clientX - left, area.clientWidth), to(event.clientY - top, area.clientHeight));
  },
};

find("map").addEventListener("pointerdown", (event) => {
  find("map").setPointerCapture(event.pointerId);
  map.go(event);
});
find("map").addEventListener("pointermove", (event) => map.go(event));
find("graph").addEventListener("scroll", () => map.follow());
