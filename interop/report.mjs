// What a whole run leaves behind: results.json, the table of it in docs/compatibility.md, and recordings for `npm test`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { FRAMEWORKS } from "./frameworks.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, "..", "docs", "compatibility.md");
const START = "<!-- written by npm run test:interop -- --write -->";
const END = "<!-- end of what the lab wrote -->";
const MODES = ["direct", "observe", "starter", "opened"];

/** The deviations that are known, each with its reason. */
export const KNOWN = readJson("deviations.json");

/** The cells of the last whole run. */
export function readResults() {
  return readJson("results.json");
}

/** What the page says between its two marks. */
export function readPage() {
  const [, after] = readFileSync(page, "utf8").split(START);
  return after.split(END)[0];
}

/** The entries of deviations.json that explain a cell, or undefined where something is left unexplained. */
export function explain({ framework, client, mode, deviations }) {
  const used = deviations.map((deviation) =>
    KNOWN.find(
      (known) =>
        known.frameworks.includes(framework) &&
        known.modes.includes(mode) &&
        (known.clients?.includes(client) ?? true) &&
        known.deviations.some((text) => deviation.includes(text)),
    ),
  );
  return used.includes(undefined) ? undefined : [...new Set(used)];
}

/** Writes what the cells of a framework say; what people wrote around the table stays. */
export function writeResults(name, cells) {
  const versions = Object.fromEntries(
    FRAMEWORKS.flatMap(({ packages }) => packages.map((one) => [one, versionOf(one)])),
  );
  const others = readResults().cells.filter(({ framework }) => framework !== name);
  const kept = cells.map(({ framework, client, mode, deviations, blocked }) => ({
    framework,
    client,
    mode,
    deviations: deviations.map(withoutIds),
    ...(mode === "starter" ? { blocked: [...new Set(blocked)].map(withoutIds).toSorted() } : {}),
  }));
  const results = { versions, cells: [...others, ...kept] };
  writeFileSync(join(here, "results.json"), `${JSON.stringify(results, undefined, 2)}\n`);
  writePage(results);
}

function writePage(results) {
  const text = readFileSync(page, "utf8");
  const [before] = text.split(START);
  const [, after] = text.split(END);
  writeFileSync(page, `${before}${START}${render(results)}${END}${after}`);
}

/** The table of a run and the reasons of what differs. */
export function render({ versions, cells }) {
  const notes = [];
  const rows = FRAMEWORKS.flatMap((framework) => rowsOf(framework, versions, cells, notes));
  const numbered = notes.map(({ why }, index) => `${index + 1}. ${why}`);
  const lines = [
    "",
    "",
    `| framework | client | ${MODES.join(" | ")} |`,
    `|---|---|${MODES.map(() => "---|").join("")}`,
    ...rows,
    ...(numbered.length === 0 ? [] : ["", ...numbered]),
    "",
    "The starter policy in enforce mode withholds these events, and `@ag-ui/client` 1.0.0 gets these errors:",
    "",
    "| framework | event (rule), error |",
    "|---|---|",
    ...FRAMEWORKS.map(({ name, title }) => `| ${title} | ${keptBack(name, cells)} |`),
    "",
    "",
  ];
  return lines.join("\n");
}

function rowsOf({ name, title, packages }, versions, all, notes) {
  const cells = all.filter(({ framework }) => framework === name);
  const rows = new Map();
  for (const client of new Set(cells.map((cell) => cell.client))) {
    const at = (mode) => cells.find((cell) => cell.client === client && cell.mode === mode);
    const row = MODES.map((mode) => verdict(at(mode), at("direct"), notes)).join(" | ");
    rows.set(row, [...(rows.get(row) ?? []), client]);
  }
  const named = `${title} (${packages.map((one) => `\`${one}\` ${versions[one]}`).join(", ")})`;
  return [...rows].map(([row, clients], index) => {
    const who = rows.size === 1 ? "each" : clients.join(", ");
    return `| ${index === 0 ? named : ""} | ${who} | ${row} |`;
  });
}

function verdict(cell, direct, notes) {
  if (cell === undefined) return "not run";
  if (cell.deviations.length === 0) return comparedUpTo(direct);
  const known = explain(cell);
  if (known === undefined) return "differs";
  const numbers = known.map((note) => {
    if (!notes.includes(note)) notes.push(note);
    return notes.indexOf(note) + 1;
  });
  return `see ${numbers.join(", ")}`;
}

/** Nothing is compared from the run on in which the framework or the client fails without the gateway. */
function comparedUpTo(direct) {
  const [failed] = direct?.deviations[0]?.split(":") ?? [];
  if (failed === undefined) return "ok";
  return failed === "text" ? "not compared" : `ok before "${failed}"`;
}

function keptBack(framework, cells) {
  const cell = cells.find(
    (one) => one.framework === framework && one.mode === "starter" && one.client === "ag-ui 1.0.0",
  );
  const blocked = new Set((cell?.blocked ?? []).map(withoutReason));
  return blocked.size === 0 ? "nothing" : [...blocked].toSorted().join(", ");
}

/** `STATE_SNAPSHOT (ag_ui.capability)`: the reason is in the rule, and how often depends on the model. */
function withoutReason(line) {
  return line
    .replace(/^\d+ × /u, "")
    .replace(/\(([\w./-]+): .*/u, "(`$1`)")
    .replace(/(RUN_ERROR .*in "[^"]+").*/u, "$1")
    .replace(/("[^"]+": HTTP \d+).*/u, "$1");
}

/** Two runs of the lab differ by their ids alone. */
function withoutIds(text) {
  return text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/giu, "ID")
    .replace(/\s+/gu, " ")
    .slice(0, 160);
}

function versionOf(name) {
  return readJson("package-lock.json").packages[`node_modules/${name}`]?.version ?? "";
}

function readJson(name) {
  return JSON.parse(readFileSync(join(here, name), "utf8"));
}

/** One file per framework: what its own kind of client asked and got without the gateway. */
export function writeRecordings(cells) {
  mkdirSync(join(here, "recordings"), { recursive: true });
  for (const { framework, mode, client, seen } of cells) {
    const wanted = framework === "tanstack" ? "tanstack" : "ag-ui 1.0.0";
    if (mode !== "direct" || client !== wanted || seen === undefined) continue;
    const lines = seen.runs.flatMap(({ kind, exchanges }) =>
      exchanges.flatMap(({ request, wire }) => [
        JSON.stringify({ kind, request: small(request) }),
        ...wire.map((event) => JSON.stringify(small(event))),
      ]),
    );
    const file = join(here, "recordings", `${framework}.agui.jsonl`);
    writeFileSync(file, `${lines.join("\n")}\n`);
  }
}

/** The framework's own event beside an AG-UI event repeats the whole conversation; its content is not AG-UI's. */
function small(value) {
  const own = value.type === "RAW" ? { event: {} } : {};
  const { rawEvent: _, ...rest } = value;
  return { ...rest, ...own };
}
