// What a whole run leaves behind: the table in docs/compatibility.md and recordings for `npm test`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MODES } from "./matrix.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, "..", "docs", "compatibility.md");
const recordings = join(here, "recordings");
const START = "<!-- written by npm run test:interop -- --write -->";
const END = "<!-- end of what the lab wrote -->";

/** Replaces the part between the two marks; what people wrote around it stays. */
export function writePage(frameworks, clients, cells) {
  const text = readFileSync(page, "utf8");
  const [before] = text.split(START);
  const after = text.split(END)[1];
  const table = frameworks.map((framework) => section(framework, clients, cells)).join("\n\n");
  writeFileSync(page, `${before}${START}\n\n${table}\n\n${END}${after}`);
}

function section({ name, title, packages }, clients, all) {
  const cells = all.filter(({ framework }) => framework === name);
  const at = (client, mode) => cells.find((cell) => cell.client === client && cell.mode === mode);
  const notRun = cells.find(({ client }) => client === "-");
  const lines = [
    `### ${title}`,
    "",
    packages.map((one) => `\`${one}\` ${versionOf(one)}`).join(", "),
  ];
  if (notRun !== undefined) return [...lines, "", notRun.deviations[0]].join("\n");
  lines.push("", `| client | ${MODES.join(" | ")} |`, `|---|${MODES.map(() => "---|").join("")}`);
  for (const client of clients) {
    const states = MODES.map((mode) =>
      at(client, mode)?.deviations.length === 0 ? "ok" : "differs",
    );
    lines.push(`| ${client} | ${states.join(" | ")} |`);
  }
  for (const mode of MODES) {
    // Clients that see the same are told of once.
    const told = new Map();
    for (const client of clients) {
      for (const line of at(client, mode)?.deviations ?? []) {
        told.set(line, [...(told.get(line) ?? []), client]);
      }
    }
    if (told.size > 0) lines.push("", `${mode}:`, "");
    for (const [line, who] of told) lines.push(`- ${quiet(line)} (${who.join(", ")})`);
  }
  const blocked = at(clients[0], "starter")?.blocked ?? [];
  if (blocked.length > 0) lines.push("", "Kept back by the starter policy when it enforces:", "");
  for (const line of blocked) lines.push(`- ${quiet(line)}`);
  return lines.join("\n");
}

function quiet(line) {
  return line.replace(/\s+/gu, " ").replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

function versionOf(name) {
  const lock = JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8"));
  return lock.packages[`node_modules/${name}`]?.version ?? "";
}

/** One file per framework: the events of each run as the official client got them without the gateway. */
export function writeRecordings(cells) {
  mkdirSync(recordings, { recursive: true });
  for (const { framework, mode, client, seen } of cells) {
    if (mode !== "direct" || client !== "ag-ui 1.0.0" || seen === undefined) continue;
    const lines = seen.runs.flatMap(({ kind, request, wire }) => [
      JSON.stringify({ kind, request }),
      ...wire.map((event) => JSON.stringify(event)),
    ]);
    writeFileSync(join(recordings, `${framework}.agui.jsonl`), `${lines.join("\n")}\n`);
  }
}
