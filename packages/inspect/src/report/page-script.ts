/** Draws the HTML report. Text from the stream is set as text, never as markup. */
export const PAGE_SCRIPT = `
"use strict";
const { report, titles, pages } = DATA;
const make = (name, attributes = {}, ...children) => {
  const svg = ["svg", "rect", "g", "text", "line", "title"].includes(name);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    // The page's policy allows no style attribute.
    if (key === "style") element.style.cssText = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
};
const at = (id) => document.getElementById(id);
const milliseconds = (value) => (value >= 1000 ? (value / 1000).toFixed(2) + " s" : Math.round(value * 10) / 10 + " ms");

const STATUS = { pass: "works", warn: "works, with warnings", fail: "fails", skipped: "skipped" };
for (const { layer, name, status, reason } of report.layers) {
  at("layers").append(make("li", { class: status }, make("b", {}, "Layer " + layer + ": " + name), make("span", {}, STATUS[status] + (reason ? ": " + reason : ""))));
}

const { phases, events, omitted } = report.timeline;
const last = Math.max(1, ...phases.map((phase) => phase.endMs), ...events.map((event) => event.atMs));
for (const { name, startMs, endMs, detail } of phases) {
  const bar = make("i", { style: "left:" + (startMs / last) * 100 + "%;width:" + ((endMs - startMs) / last) * 100 + "%" });
  at("phases").append(make("div", { class: "phase", title: detail || "" }, make("span", {}, name), make("div", {}, bar), make("em", {}, milliseconds(endMs - startMs))));
}

const LANES = [["run", /^(RUN|STEP)/], ["text", /^(TEXT|MESSAGES)/], ["tool", /^TOOL/], ["state", /^(STATE|ACTIVITY)/], ["other", /./]];
const laneOf = (type) => LANES.findIndex(([, pattern]) => pattern.test(type || "?"));
const worst = (rules) => {
  const found = report.findings.filter((finding) => rules.includes(finding.rule)).map((finding) => finding.severity);
  return ["error", "warning", "note"].find((severity) => found.includes(severity));
};
const WIDTH = 1000, LEFT = 60, TOP = 8, HEIGHT = 26;
let chosen = -1;
const ticks = [];
function drawTimeline() {
  if (events.length === 0) { at("timeline").append(make("p", { class: "empty" }, "No event was seen.")); return; }
  const first = events[0].atMs, end = events[events.length - 1].atMs;
  const timed = end > first;
  const place = (event, index) => LEFT + (timed ? (event.atMs - first) / (end - first) : events.length < 2 ? 0 : index / (events.length - 1)) * (WIDTH - LEFT - 12);
  const bottom = TOP + LANES.length * HEIGHT;
  const svg = make("svg", { viewBox: "0 0 " + WIDTH + " " + (bottom + 24), role: "img", "aria-label": "events over time" });
  LANES.forEach(([name], lane) => {
    const y = TOP + lane * HEIGHT + HEIGHT / 2;
    svg.append(make("text", { class: "axis", x: 0, y: y + 4 }, name), make("line", { x1: LEFT, x2: WIDTH, y1: y, y2: y, stroke: "var(--line)" }));
  });
  events.forEach((event, index) => {
    const before = events[index - 1];
    if (timed && before && event.atMs - before.atMs > Math.max(1000, (end - first) / 5)) {
      const from = place(before, index - 1);
      svg.append(make("rect", { class: "gap", x: from, y: TOP, width: place(event, index) - from, height: bottom - TOP }, make("title", {}, "gap of " + milliseconds(event.atMs - before.atMs))));
    }
  });
  events.forEach((event, index) => {
    const lane = laneOf(event.type), severity = worst(event.rules);
    const colour = severity === "error" || severity === "warning" ? "var(--" + severity + ")" : "var(--" + LANES[lane][0] + ")";
    const tall = severity === "error" || severity === "warning";
    const tick = make("g", { class: "tick", tabindex: 0, "data-event": event.eventNumber },
      make("rect", { x: place(event, index) - 3, y: TOP + lane * HEIGHT + (tall ? 2 : 6), width: 6, height: HEIGHT - (tall ? 4 : 12), rx: 2, fill: colour }),
      make("title", {}, "#" + event.eventNumber + " " + (event.type || "no event") + " at " + milliseconds(event.atMs)));
    tick.addEventListener("click", () => choose(index));
    tick.addEventListener("keydown", (key) => { if (key.key === "Enter") choose(index); });
    ticks.push(tick);
    svg.append(tick);
  });
  svg.append(make("text", { class: "axis", x: LEFT, y: bottom + 16 }, timed ? milliseconds(first) : "first event"));
  svg.append(make("text", { class: "axis", x: WIDTH, y: bottom + 16, "text-anchor": "end" }, timed ? milliseconds(end) : "last event"));
  const legend = make("div", { class: "legend" });
  for (const [name, colour] of [["error", "error"], ["warning", "warning"], ["gap", "warning"]]) {
    legend.append(make("span", {}, make("i", { style: "background:var(--" + colour + ")" + (name === "gap" ? ";opacity:.3" : "") }), name));
  }
  legend.append(make("span", {}, events.length + " events" + (omitted ? ", " + omitted + " more not shown" : "") + "; click one for its JSON"));
  at("timeline").append(svg, legend);
}
function choose(index) {
  const event = events[index];
  if (!event) return;
  ticks[chosen]?.classList.remove("chosen");
  chosen = index;
  ticks[chosen].classList.add("chosen");
  at("detail").hidden = false;
  at("detail-title").textContent = "Event " + event.eventNumber + ": " + (event.type || "no event") + ", " + event.bytes + " bytes at " + milliseconds(event.atMs);
  at("detail-rules").textContent = event.rules.map((rule) => rule + ": " + (titles[rule] || "")).join(" · ");
  at("detail-json").textContent = event.json || "(not kept)";
}
at("previous").addEventListener("click", () => choose(chosen - 1));
at("next").addEventListener("click", () => choose(chosen + 1));
drawTimeline();

if (report.findings.length === 0) at("findings").append(make("p", { class: "empty" }, "Nothing to report."));
for (const finding of report.findings) {
  const box = make("div", { class: "finding " + finding.severity },
    make("p", {}, make("code", {}, finding.rule), make("span", { class: "badge " + finding.severity }, finding.severity), make("span", { class: "badge" }, "layer " + finding.layer)),
    make("p", {}, finding.message), make("p", {}, make("b", {}, "Fix: "), finding.fix));
  const places = make("p", { class: "places" }, finding.count + (finding.count === 1 ? " place" : " places") + " · ", make("a", { href: pages[finding.rule] }, finding.page));
  for (const place of finding.places) {
    const text = [place.eventNumber ? "event " + place.eventNumber : "", place.path || "", place.detail || ""].filter(Boolean).join(" ");
    if (!text) continue;
    const index = events.findIndex((event) => event.eventNumber === place.eventNumber);
    const link = make("a", index < 0 ? {} : { href: "#detail" }, text);
    if (index >= 0) link.addEventListener("click", () => choose(index));
    places.append(" · ", link);
  }
  box.append(places);
  at("findings").append(box);
}

const head = ["transport", "set-up", "request", "payload", "framing", "overhead", "total"];
const rows = report.bytes.map((row) => [row.transport + (row.measured ? " (spoken)" : " (computed)"), row.setup, row.request, row.payload, row.framing, row.overheadPercent + " %", row.total]);
const table = make("table", {}, make("tr", {}, ...head.map((name) => make("th", {}, name))));
for (const row of rows) table.append(make("tr", {}, ...row.map((cell) => make("td", {}, typeof cell === "number" ? cell.toLocaleString("en") : cell))));
at("bytes").append(table);
const facts = { started: report.startedAt, ...report.network, exchange: report.exchange, stream: report.stream, skipped: report.skipped };
at("facts").append(make("pre", {}, JSON.stringify(facts, null, 2)));
`;
