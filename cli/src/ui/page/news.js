// The last line of a gate's log, and the Events of an object. The page asks for them when an object is selected, and when the state of
// the selected object changes.

const news = { of: "", told: undefined };

/// The facts of an object that call for new Events when one of them changes.
const newsKey = (node) => [node.id, node.state, node.reason, node.waiting.length].join(" ");

async function askNews(node) {
  const of = newsKey(node);
  if (news.of === of) return;
  const same = news.of.startsWith(`${node.id} `);
  Object.assign(news, { of, told: same ? news.told : undefined });
  const kind = node.kind.split(".")[0];
  const pod = (node.waiting[0] ?? node.gates[0])?.pod;
  const cause = node.rootCause?.pod;
  const query = new URLSearchParams({ namespace: node.namespace, kind, name: node.name });
  if (pod ?? cause) query.set("pod", pod ?? cause);
  const answer = await fetch(`${base}api/news?${query}`).catch(() => undefined);
  const told = answer?.ok ? await answer.json() : { events: [], unseen: ["they cannot be read now"] };
  if (news.of !== of) return;
  news.told = told;
  draw();
}

function newsOf(node) {
  if (!node.namespace || node.state === "missing" || node.state === "spare") return [];
  askNews(node);
  if (!news.told) return [section("Events", make("p.quiet", {}, "being read\u2026"))];
  const { gate, events, unseen } = news.told;
  const rows = events.map((event) => make(`li${event.type === "Warning" ? ".warned" : ""}`, {},
    make("b", {}, event.reason), event.count > 1 ? ` \u00d7 ${event.count}` : "",
    make("span.since", {}, clock(event.at)),
    make("p", {}, event.message)));
  return [
    ...(gate ? [section("The gate\u2019s last word", make("p.said", {}, gate))] : []),
    section("Events", rows.length ? make("ul.events", {}, rows) : make("p.quiet", {}, "none"),
      ...unseen.map((text) => make("p.quiet", {}, `Not all can be shown: ${text}`))),
  ];
}
