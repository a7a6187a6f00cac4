// The log, the control API, the command line, the live feed and the console use the same words.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createProgram } from "../apps/cli/src/program.ts";
import { FIELDS } from "../apps/console/src/decisions/filter.ts";
import { ENTRY_COLUMNS } from "../packages/receipts/src/log/index.ts";

const api = JSON.parse(readFileSync(new URL("../docs/control-api.json", import.meta.url), "utf8"));
const parametersOf = (path) => api.paths[path].get.parameters.map(({ name }) => name);
const FILTERS = [...ENTRY_COLUMNS, "id", "q", "since", "until", "would_block"];

/** Filters whose option has another name: two options for one flag, one option for two columns, a verb of its own. */
const OPTIONS = {
  allowed: ["--allowed", "--blocked"],
  target_type: ["--target"],
  target_id: ["--target"],
  q: ["--find"],
  id: [],
};
const optionsOf = (filter) =>
  OPTIONS[filter] ?? [`--${filter.replace(/_id$/u, "").replaceAll("_", "-")}`];

test("the control API filters and counts by the columns of the log", () => {
  const paging = ["limit", "cursor", "order"];
  expect(new Set(parametersOf("/v1/receipts"))).toEqual(new Set([...FILTERS, ...paging]));
  expect(new Set(parametersOf("/v1/receipts/counts"))).toEqual(
    new Set([...FILTERS, "by", "bucket"]),
  );
});

test("the command line has an option of the same name for each filter", () => {
  const receipts = createProgram().commands.find((command) => command.name() === "receipts");
  for (const verb of ["list", "stats"]) {
    const command = receipts.commands.find((one) => one.name() === verb);
    const long = command.options.map((option) => option.long);
    expect(long).toEqual(expect.arrayContaining(FILTERS.flatMap(optionsOf)));
  }
});

test("the console filters by the same names", () => {
  // The API has two flags for what people call one verdict.
  const names = FIELDS.map(({ name }) => name).filter((name) => name !== "verdict");
  expect(FILTERS).toEqual(expect.arrayContaining(names));
  for (const name of ["principal", "client_address", "tool", "path", "rule", "event_type"]) {
    expect(names).toContain(name);
  }
});

test("a feed item has the columns of the log that say who, what and why", () => {
  const source = readFileSync(
    new URL("../packages/core/src/vocabulary/control-api.ts", import.meta.url),
    "utf8",
  );
  const item = source.slice(source.indexOf("export type FeedItem"));
  const members = [...item.matchAll(/^  (?:readonly )?(\w+)\??:/gmu)].map(([, name]) => name);
  const columns = ENTRY_COLUMNS.filter(
    // The feed has `target` as one object, and neither the token nor the transport.
    (name) => !["target_type", "target_id", "capability_id", "transport"].includes(name),
  );
  expect(members).toEqual(expect.arrayContaining(columns));
});
