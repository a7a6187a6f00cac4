import { stripVTControlCharacters } from "node:util";
import type { LogEntry } from "@countersign/receipts";
import { expect, test } from "vitest";
import { describeEntry, explainEntry } from "./describe.js";
import { entryTable } from "./list-table.js";
import { sampleDraft } from "./testing/sample-gateway.js";

function entryOf(seq: number): LogEntry {
  const draft = sampleDraft(seq);
  return {
    ...draft,
    seq,
    received_at: 1_794_700_000_000,
    run_id: "run_01KA8ZQ5WY3J9V7M2N4P6R8S0T",
    principal: "jwt:https://id.example/dex alice",
    receipt: {
      ...draft.receipt,
      session_id: "sess_01KA8ZQ5WY3J9V7M2N4P6R8S1X",
      agent_id: "customer-support",
      payload_hash: "cd".repeat(32),
      id: "agui-1",
      kernel_key: "ed25519:",
      signature: "ed25519:",
    },
  };
}

const linesOf = (columns: number | undefined): string[] =>
  stripVTControlCharacters(entryTable([entryOf(123_450)], columns)).split("\n");

test("in 80 columns a decision stands in one line, with the ends of principal and run", () => {
  const [header = "", row = ""] = linesOf(80);
  expect(header).toMatch(/^seq +time +principal +run +agent +event +class +decision$/u);
  expect(row).toContain("…ex alice  …P6R8S0T  custome…");
  expect(row.indexOf("allowed") + "allowed".length).toBeLessThanOrEqual(80);
});

test("in 80 columns a reason that does not fit stands in a line of its own, and no line is wider", () => {
  const entry = entryOf(123_450);
  const target = { component_type: "modal", component_id: "confirm" };
  const noted = { ...entry, rule: "ag_ui.x", receipt: { ...entry.receipt, allowed: true, target } };
  const lines = stripVTControlCharacters(entryTable([noted], 80)).split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/ allowed$/u);
  expect(lines[2]).toBe("     would block: ag_ui.x  modal:confirm");
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(stripVTControlCharacters(entryTable([noted], 120)).split("\n")).toHaveLength(2);
});

test("a wide terminal and a pipe get everything", () => {
  for (const columns of [undefined, 200]) {
    const [, row = ""] = linesOf(columns);
    expect(row).toContain("sess_01KA8ZQ5WY3J9V7M2N4P6R8S1X  run_01KA8ZQ5WY3J9V7M2N4P6R8S0T  ");
    expect(row).toContain("customer-support  jwt:https://id.example/dex alice  ");
    expect(row).toContain("Z  ");
  }
});

test("what an operator did is told as such, and by its whole name", () => {
  const entry = entryOf(7);
  const act: LogEntry = {
    ...entry,
    direction: "inbound",
    receipt: {
      ...entry.receipt,
      allowed: true,
      agent_id: "<operator>",
      event_type: { custom: "operator.policy-reload" },
      target: { component_type: "operator", component_id: "admin-01234567" },
    },
  };
  expect(stripVTControlCharacters(describeEntry(act))).toMatch(/direction +operator to gateway/u);
  expect(entryTable([act], 80)).toContain("→ custom:operator.policy-reload");
  // A browser chooses names and targets, and not whom it is.
  const forged = { ...act, receipt: { ...act.receipt, agent_id: "support" } };
  expect(stripVTControlCharacters(describeEntry(forged))).toMatch(/direction +person to agent/u);
});

test("one sentence says who, what, which rule and how to open it, and hostile names stay text", () => {
  const entry = entryOf(9);
  const { target: _target, ...receipt } = entry.receipt;
  const blocked: LogEntry = {
    ...entry,
    direction: "outbound",
    client_address: "192.0.2.7",
    tool: "send\u001b[2J_mail",
    path: "/to/0",
    rule: "ag_ui_tools.call",
    receipt: { ...receipt, allowed: false, denial_reason: "tool may not be called" },
  };
  expect(explainEntry(blocked)).toBe(
    "Agent customer-support sent form_action (display) about tool send\\u{1b}[2J_mail at path /to/0 to " +
      "jwt:https://id.example/dex alice at 192.0.2.7, and rule ag_ui_tools.call blocked it: tool may not be called. " +
      "To allow it: add the name to `ag_ui_tools.call.allow`; check `require_advertised` and the schema under `arguments`.",
  );
  const table = stripVTControlCharacters(entryTable([blocked], 80));
  expect(table).toContain("tool send\\u{1b}[2J_mail");
  const { principal: _, ...stranger } = blocked;
  const asked = { ...stranger, direction: "inbound" as const, mode: "observe" as const };
  asked.receipt = { ...receipt, allowed: true };
  expect(explainEntry(asked)).toContain(
    "An anonymous client at 192.0.2.7 sent form_action (display)",
  );
  expect(explainEntry(asked)).toContain("rule ag_ui_tools.call would block it");
});
