import { expect, test } from "vitest";
import { decision, entry } from "../testing/decisions.js";
import { decisionOfEntry, decisionOfItem, placeOf } from "./decision.js";
import { csvOf, jsonLinesOf } from "./export-rows.js";
import { facetsOf } from "./facets.js";
import { apiFilterOf, chipsOf, FIELDS, filterOf, passesFilter } from "./filter.js";
import { groupRepeats, plainRows, rowsOf } from "./group-repeats.js";

const BLOCKED = {
  allowed: false,
  rule: "ag_ui_tools",
  tool: "refund",
  principal: "bob",
  client_address: "192.0.2.7",
  path: "/order/total",
};

test("a decision of the feed and the same of the log have the same columns", () => {
  const { allowed, rule, ...who } = BLOCKED;
  const ofFeed = decisionOfItem(decision(3, { ...BLOCKED, event_type: "custom:refund" }));
  const ofLog = decisionOfEntry(
    entry(
      3,
      { allowed, session_id: "alice", event_type: { custom: "refund" } },
      { ...who, rule, run_id: "r", thread_id: "t", received_at: 3000 },
    ),
  );
  for (const name of ["verdict", "seq", "received_at", ...FIELDS.map((field) => field.name)]) {
    if (name === "transport") continue;
    expect([name, ofFeed[name as "rule"]]).toEqual([name, ofLog[name as "rule"]]);
  }
  expect([ofLog.verdict, placeOf(ofLog)]).toEqual(["blocked", "/order/total"]);
});

test("a search finds every visible field, and each part of a filter must hold", () => {
  const one = decisionOfItem(decision(41, { ...BLOCKED, denial_reason: "needs a token" }));
  const passes = (query: string) => passesFilter(one, filterOf(new URLSearchParams(query)));
  for (const q of [
    "BOB",
    "refund",
    "ag_ui_tools",
    "192.0.2",
    "/order",
    "support",
    "alice",
    "text_message",
    "text_stream",
    "display",
    "blocked",
    "agui-41",
    "41",
    "needs a",
  ]) {
    expect([q, passes(`q=${encodeURIComponent(q)}`)]).toEqual([q, true]);
  }
  expect(passes("verdict=blocked&principal=bob&tool=refund&rule=ag_ui_tools&q=order")).toBe(true);
  for (const no of ["q=mallory", "verdict=allowed", "principal=bo", "tool=x", "since=41001"]) {
    expect([no, passes(no)]).toEqual([no, false]);
  }
  // What the console does not know is not a filter, so that no address hides decisions without a chip.
  expect(passes("nonsense=1")).toBe(true);
});

test("a filter becomes parameters of the API and chips; a query of the API is a filter too", () => {
  const filter = filterOf(new URLSearchParams("verdict=allowed&within=900000&q=x&tool=refund"));
  expect(apiFilterOf(filter, 1_000_000_500)).toEqual({
    q: "x",
    tool: "refund",
    since: "999100000",
    allowed: "true",
    would_block: "false",
  });
  expect(chipsOf(filter).map(({ title, value }) => `${title} ${value}`)).toEqual([
    "contains x",
    "decision allowed",
    "tool refund",
    "time last 15 minutes",
  ]);
  expect(filterOf(new URLSearchParams("allowed=false"))).toEqual({ verdict: "blocked" });
  expect(filterOf(new URLSearchParams("would_block=true"))).toEqual({ verdict: "would_block" });
});

test("repeats of a run are one row that opens; another principal, run, rule or tool is another row", () => {
  const all = [
    decision(9, BLOCKED),
    decision(8),
    decision(7, BLOCKED),
    decision(6, { ...BLOCKED, principal: "carol" }),
    decision(5, { ...BLOCKED, run_id: "other" }),
    decision(4, { ...BLOCKED, tool: "pay" }),
    decision(3, { ...BLOCKED, rule: "other" }),
    decision(2, BLOCKED),
  ].map(decisionOfItem);
  const groups = groupRepeats(all);
  expect(groups.map(({ decisions }) => decisions.map(({ seq }) => seq))).toEqual([
    [9, 7, 2],
    [8],
    [6],
    [5],
    [4],
    [3],
  ]);
  expect(rowsOf(groups, new Set()).map(({ count }) => count)).toEqual([3, 1, 1, 1, 1, 1]);
  const open = rowsOf(groups, new Set([groups[0]?.key ?? ""]));
  expect(open.map(({ decision: { seq }, isPart }) => (isPart ? -seq : seq))).toEqual([
    9, -9, -7, -2, 8, 6, 5, 4, 3,
  ]);
  expect(new Set(open.map(({ key }) => key)).size).toBe(open.length);
  expect(plainRows(all)).toHaveLength(all.length);
});

test("a CSV has one line per decision, and no cell that a spreadsheet would execute", () => {
  const names = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "|cmd",
    "%0A",
    ' ="x"',
    'a"b\r\nc',
  ];
  const csv = csvOf(names.map((tool, at) => decisionOfItem(decision(at, { tool }))));
  const [header, ...rest] = csv.split(/\r\n(?=")/u);
  expect(header).toContain("seq,received_at,verdict,rule,principal,tool,agent_id");
  expect(rest).toHaveLength(names.length);
  for (const [at, line] of rest.entries()) {
    const cell = line.split(/,(?=")/u)[5] ?? "";
    expect([cell.slice(0, 2), at]).toEqual([at === 9 ? '"a' : `"'`, at]);
  }
  expect(csv).toContain('"a""b\r\nc"');
  const item = decision(1, { tool: "=1" });
  expect(jsonLinesOf([decisionOfItem(item)])).toBe(`${JSON.stringify(item)}\n`);
});

test("values to pick are the most frequent first, and a missing value is none", () => {
  const counts = {
    counts: [
      { count: 1, values: { tool: "a" } },
      { count: 9, values: { tool: null } },
      { count: 3, values: { tool: "b" } },
    ],
  };
  expect(facetsOf(counts, "tool")).toEqual([
    { value: "b", count: 3 },
    { value: "a", count: 1 },
  ]);
});
