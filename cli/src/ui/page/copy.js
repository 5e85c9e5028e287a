// Copies of the graph for other documents: a text for Mermaid, and an SVG drawing.

/// The graph as `kubectl sluice graph -o mermaid` prints it, which the process answers.
async function mermaidText() {
  const answer = await fetch(`${base}api/mermaid${location.search}`);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.text();
}

/// The graph as SVG, with the colours that the page shows now.
function svgText(model) {
  const { width, height } = graph.laid;
  const colour = (element, property) => getComputedStyle(element)[property];
  const escaped = (text) => text.replace(/[&<>"]/g, (it) => `&#${it.charCodeAt(0)};`);
  const text = (x, y, size, weight, fill, words) =>
    `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${fill}">${escaped(words)}</text>`;
  const fitting = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}\u2026` : words);
  const lines = [...find("lines").children].map((line) =>
    `<path d="${line.getAttribute("d")}" fill="none" stroke="${colour(line, "stroke")}" stroke-width="${colour(line, "strokeWidth")}" marker-start="url(#arrow)"/>`);
  const boxes = model.nodes.flatMap((node) => {
    const box = graph.boxes.get(node.id);
    const { x, y } = graph.places.get(node.id);
    const part = (name) => box.querySelector(name);
    const [kind, name, why] = [".kind", ".name", ".why"].map((it) => [colour(part(it), "color"), part(it).textContent]);
    return [
      `<rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="10" fill="${colour(box, "backgroundColor")}" stroke="${colour(box, "borderTopColor")}"/>`,
      `<rect x="${x}" y="${y + 8}" width="4" height="${BOX.height - 16}" fill="${colour(part(".mark"), "color")}"/>`,
      text(x + 14, y + 18, 11, 400, kind[0], fitting(kind[1], 32)),
      text(x + 14, y + 37, 14, 600, name[0], fitting(name[1], 24)),
      text(x + 14, y + 55, 12, 400, why[0], fitting(why[1], 30)),
    ];
  });
  return [
    `<svg xmlns="${SVG}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif">`,
    `<defs><marker id="arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 0.5L7.5 4L0 7.5z" fill="context-stroke"/></marker></defs>`,
    `<rect width="${width}" height="${height}" fill="${colour(find("graph"), "backgroundColor")}"/>`,
    ...lines, ...boxes, "</svg>", "",
  ].join("\n");
}

/// A button that copies a text, and says for two seconds whether that worked. `make_text` may be asynchronous.
function copyButton(label, make_text) {
  const button = make("button", { type: "button" }, label);
  button.addEventListener("click", async () => {
    // Browsers let a page write to the clipboard only right after a click, so the page writes a promise of the text.
    const text = Promise.resolve(make_text()).then((it) => new Blob([it], { type: "text/plain" }));
    try {
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": text })]);
      button.textContent = "copied";
    } catch {
      button.textContent = "cannot copy";
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
  return button;
}
