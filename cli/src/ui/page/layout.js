// The places of the boxes and lines. An object stands in the column of the step at which it can start, from left to right. The order
// within a column has few crossings of lines, and lines go around boxes. Nothing here touches the document.

const BOX = { width: 204, height: 70 };
const GAP = { x: 52, y: 16, line: 12 };
const MARGIN = 20;
/// How far the line of a cycle reaches below its boxes, and to their sides.
const LOOP = { below: 26, side: 44 };

/// Lays the graph out: the place of each node and the line of each edge, in pixels: `{places, lines, width, height}`.
function layout(nodes, edges) {
  const { ranks, links } = layered(nodes, edges);
  ordered(ranks);
  positioned(ranks);
  const loops = links.filter((link) => link.back);
  const side = loops.length ? LOOP.side : MARGIN;
  const columns = ranks.map((rank, at) => side + at * (BOX.width + GAP.x));
  const places = new Map();
  ranks.forEach((rank, at) => rank.forEach((it) => {
    it.x = columns[at];
    if (it.id !== undefined) places.set(it.id, { x: it.x, y: it.y - BOX.height / 2, rank: at });
  }));
  ported(ranks);
  const bottom = Math.max(0, ...ranks.flat().map((it) => it.y + it.height / 2), ...loops.map(lowest));
  return {
    places,
    lines: links.map((link) => ({ edge: link.edge, path: line(link) })),
    width: Math.max(0, columns.length * (BOX.width + GAP.x) - GAP.x) + 2 * side,
    height: bottom + MARGIN,
  };
}

/// The column of each node, from 0: its step less one. Nodes that never start come behind all others, each behind those that it waits on.
function rankOf(nodes, edges) {
  const last = Math.max(0, ...nodes.map((it) => it.step ?? 0));
  const ranks = new Map();
  const rank = (node, above) => {
    if (node.step !== undefined) return node.step - 1;
    if (ranks.has(node.id)) return ranks.get(node.id);
    if (above.has(node.id)) return last - 1;
    const inner = new Set(above).add(node.id);
    const before = node.waitsOn.map((it) => rank(it, inner));
    const found = Math.max(last, ...before.map((it) => it + 1));
    ranks.set(node.id, found);
    return found;
  };
  return new Map(nodes.map((node) => [node.id, rank(node, new Set())]));
}

/// The columns, each with its boxes, and with a bend for each line that passes the column; and the way of each edge through them.
function layered(nodes, edges) {
  const at = rankOf(nodes, edges);
  const ranks = [];
  const column = (rank) => (ranks[rank] ??= []);
  const boxes = new Map();
  for (const node of nodes) {
    const box = { id: node.id, height: BOX.height, before: [], behind: [], rank: at.get(node.id) };
    boxes.set(node.id, box);
    column(box.rank).push(box);
  }
  const links = edges.map((edge) => {
    const [from, to] = [boxes.get(edge.to), boxes.get(edge.from)];
    const way = [from];
    const back = from.rank >= to.rank;
    for (let rank = from.rank + 1; !back && rank < to.rank; rank += 1) {
      const bend = { height: 0, before: [], behind: [], rank };
      column(rank).push(bend);
      way.push(bend);
    }
    way.push(to);
    if (!back) way.slice(1).forEach((it, step) => {
      it.before.push(way[step]);
      way[step].behind.push(it);
    });
    return { edge, way, back };
  });
  return { ranks: Array.from(ranks, (rank) => rank ?? []), links };
}

/// Sorts the columns: each entry moves to the mean place of its neighbours in the column before, in the next turn in the column behind.
/// The order with the fewest crossings is kept.
function ordered(ranks) {
  const number = (rank) => rank.forEach((it, at) => { it.at = at; });
  ranks.forEach(number);
  let best = ranks.map((rank) => [...rank]);
  let least = crossings(ranks);
  for (let turn = 0; turn < 16 && least > 0; turn += 1) {
    const side = turn % 2 ? "behind" : "before";
    const way = turn % 2 ? [...ranks].reverse() : ranks;
    for (const rank of way) {
      for (const it of rank) {
        const near = it[side].map((other) => other.at);
        it.wish = near.length ? near.reduce((sum, one) => sum + one, 0) / near.length : it.at;
      }
      rank.sort((one, other) => one.wish - other.wish || one.at - other.at);
      number(rank);
    }
    const now = crossings(ranks);
    if (now < least) {
      least = now;
      best = ranks.map((rank) => [...rank]);
    }
  }
  best.forEach((rank, at) => {
    ranks[at].splice(0, rank.length, ...rank);
    number(ranks[at]);
  });
}

function crossings(ranks) {
  let count = 0;
  for (const rank of ranks) {
    const ends = rank.flatMap((it) => it.behind.map((other) => other.at).sort((one, other) => one - other));
    for (let one = 0; one < ends.length; one += 1) {
      for (let other = one + 1; other < ends.length; other += 1) count += ends[one] > ends[other];
    }
  }
  return count;
}

/// Sets the height at which each entry stands: as near as possible to the mean of its neighbours, in the order of its column, without
/// overlap.
function positioned(ranks) {
  for (const rank of ranks) spread(rank, (it) => it.at * (BOX.height + GAP.y));
  for (let turn = 0; turn < 24; turn += 1) {
    const way = turn % 2 ? [...ranks].reverse() : ranks;
    for (const rank of way) {
      spread(rank, (it) => {
        const near = [...it.before, ...it.behind];
        return near.length ? near.reduce((sum, one) => sum + one.y, 0) / near.length : it.y;
      });
    }
  }
  const all = ranks.flat();
  const top = Math.min(...all.map((it) => it.y - it.height / 2));
  for (const it of all) it.y += MARGIN - top;
}

/// Puts each entry of a column at the height that `wish` gives. Entries that would overlap stand together around the mean of their wishes.
function spread(rank, wish) {
  const blocks = [];
  let offset = 0;
  rank.forEach((it, at) => {
    const before = rank[at - 1];
    const boxes = before && before.id !== undefined && it.id !== undefined;
    if (before) offset += (before.height + it.height) / 2 + (boxes ? GAP.y : GAP.line);
    it.offset = offset;
    blocks.push({ sum: wish(it) - offset, count: 1 });
    while (blocks.length > 1) {
      const [last, one] = [blocks.at(-1), blocks.at(-2)];
      if (one.sum / one.count <= last.sum / last.count) break;
      blocks.splice(-2, 2, { sum: one.sum + last.sum, count: one.count + last.count });
    }
  });
  let at = 0;
  for (const block of blocks) {
    for (let member = 0; member < block.count; member += 1, at += 1) {
      rank[at].y = block.sum / block.count + rank[at].offset;
    }
  }
}

/// Sets the points at which lines meet each box: one below the other, in the order of the lines' other ends.
function ported(ranks) {
  const ports = (others) => {
    const sorted = [...others].sort((one, other) => one.y - other.y);
    const step = Math.min(9, (BOX.height - 20) / Math.max(1, sorted.length - 1));
    return new Map(sorted.map((it, at) => [it, (at - (sorted.length - 1) / 2) * step]));
  };
  for (const it of ranks.flat().filter((it) => it.id !== undefined)) {
    it.left = ports(it.before);
    it.right = ports(it.behind);
  }
}

/// How low the line of a cycle runs.
const lowest = ({ way }) => Math.max(way[0].y, way.at(-1).y) + BOX.height / 2 + LOOP.below;

/// The path of an edge's line in SVG, from the dependency to the dependent. A line back to the left goes below both boxes.
function line(link) {
  const { way, back } = link;
  const [first, last] = [way[0], way.at(-1)];
  if (back) {
    const [x, to] = [first.x + BOX.width, last.x];
    const below = lowest(link);
    return `M${x} ${first.y + 8}C${x + 60} ${first.y + 8} ${x + 50} ${below} ${x - 30} ${below}`
      + `L${to + 30} ${below}C${to - 50} ${below} ${to - 60} ${last.y + 8} ${to} ${last.y + 8}`;
  }
  let [x, y] = [first.x + BOX.width, first.y + first.right.get(way[1])];
  let path = `M${x} ${y}`;
  const go = (toX, toY) => {
    const middle = (x + toX) / 2;
    path += toY === y ? `H${toX}` : `C${middle} ${y} ${middle} ${toY} ${toX} ${toY}`;
    [x, y] = [toX, toY];
  };
  for (const bend of way.slice(1, -1)) {
    go(bend.x, bend.y);
    go(bend.x + BOX.width, bend.y);
  }
  go(last.x, last.y + last.left.get(way.at(-2)));
  return path;
}
