import { expect, test } from "vitest";
import { entry } from "../testing/decisions.js";
import { ageOf, clockOf, gapOf } from "../components/format-time.js";
import { capabilityIdOf } from "./capability-id.js";
import { fieldsOf } from "./entry-fields.js";
import { grantOf } from "./grant.js";
import { policyBlocks } from "./format-policy.js";

const DRAFT = {
  agent: " support ",
  session: "",
  scopes: "ui:alert:toast\n ui:submit:modal",
  amount: "10",
  unit: "60",
  events: "",
  principal: "",
  allowsUnowned: false,
  isAttached: true,
};

test("a form becomes a grant; what could not be meant is said", () => {
  expect(grantOf(DRAFT)).toEqual({
    body: { agent: "support", scopes: ["ui:alert:toast", "ui:submit:modal"], expires_in: 600 },
  });
  expect(grantOf({ ...DRAFT, session: "s", isAttached: false, events: "5" })).toMatchObject({
    body: { session_id: "s", attach: false, max_events: 5 },
  });
  for (const wrong of [
    { agent: " " },
    { scopes: "\n" },
    { amount: "" },
    { amount: "0.001" },
    { amount: "9999", unit: "86400" },
    { events: "-1" },
  ]) {
    expect(grantOf({ ...DRAFT, ...wrong })).toEqual({ fault: expect.any(String) });
  }
});

test("a token is revoked by the id inside it, an id by itself, and nothing else is taken for one", () => {
  const claims = Buffer.from('{"jti":"cap-1"}').toString("base64url");
  expect(capabilityIdOf(`eyJhbGciOiJFZERTQSJ9.${claims}.c2ln`)).toBe("cap-1");
  expect(capabilityIdOf('{"id":"chio-1","schema":"chio.capability.v1"}')).toBe("chio-1");
  expect(capabilityIdOf(" cap.v1.2 ")).toBe("cap.v1.2");
  for (const none of ["", "  ", "two words", "{}", "{", "eyJ.!!.x", "x".repeat(1025)]) {
    expect([none, capabilityIdOf(none)]).toEqual([none, undefined]);
  }
});

test("the mode of a block is its own, else the policy's; one that is turned off says so", () => {
  const document = {
    rules: {
      ag_ui: { enabled: true, restricted_classifications: [] },
      ag_ui_inbound: { mode: "observe", default: "block" },
      ag_ui_content: { enabled: false },
      velocity: [{ max_invocations: 1 }],
      ag_ui_components: { allow_components: ["modal", "toast"] },
    },
  };
  expect(policyBlocks({ document, mode: "enforce" })).toEqual([
    { name: "ag_ui", mode: "enforce", settings: [["restricted_classifications", "none"]] },
    { name: "ag_ui_inbound", mode: "observe", settings: [["default", "block"]] },
    { name: "ag_ui_content", mode: "off", settings: [] },
    { name: "velocity", mode: "enforce", settings: [["1", "max_invocations 1"]] },
    { name: "ag_ui_components", mode: "enforce", settings: [["allow_components", "modal, toast"]] },
  ]);
});

test("every member of an entry is explained", () => {
  const whole = entry(
    7,
    {
      session_id: "s",
      target: { component_type: "modal", component_id: "m" },
      allowed: false,
      denial_reason: "no",
    },
    {
      run_id: "r",
      thread_id: "t",
      rule: "x",
      emitted_hash: "0",
      principal: "bob",
      client_address: "::1",
      tool: "pay",
      path: "/a",
    },
  );
  const named = new Set(fieldsOf(whole).map(({ name }) => name));
  const elsewhere = new Set(["receipt"]);
  const members = [...Object.keys(whole), ...Object.keys(whole.receipt)];
  const unexplained = members.filter((name) => !named.has(name) && !elsewhere.has(name));
  expect(unexplained).toEqual([]);
});

test("times are said in their two largest units", () => {
  expect([0, 59_999, 61_000, 3_720_000, 90_000_000, -5].map(ageOf)).toEqual([
    "0 s",
    "59 s",
    "1 min 1 s",
    "1 h 2 min",
    "1 d 1 h",
    "0 s",
  ]);
  expect([12, 1800, 65_000].map(gapOf)).toEqual(["12 ms", "1.8 s", "1 min 5 s"]);
  expect(clockOf(new Date(2026, 0, 2, 3, 4, 5, 6))).toBe("03:04:05.006");
});
