import type { JsonObject, JsonValue } from "@countersign/core";
import type { AgUiEvent, JsonPatch, Message, RunAgentInput } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { inRun } from "../../testing/events.js";
import { OPEN_POLICY } from "../../testing/fixture.js";
import { createInProcess, frames } from "../../testing/in-process.js";

const IDS = { threadId: "t", runId: "r" };

/** A policy that lets an agent change only the cart, and show only activities that are cards. */
const CART = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, max_events_per_second: 1000000 }
  ag_ui_inbound: { default: allow }
  ag_ui_classify:
    state: [{ match: "/cart/**", classification: display }]
    activities: [{ match: card, classification: display }]
`;

type Sent = { state?: JsonValue; messages?: Message[] };

async function through(
  events: readonly object[],
  { state = {}, messages = [] }: Sent = {},
  policy = CART,
): Promise<{ delivered: AgUiEvent[]; rules: (string | undefined)[] }> {
  const gateway = createInProcess(policy);
  const input = { ...IDS, messages, state, tools: [], context: [] } as unknown as RunAgentInput;
  const { delivered, contexts } = await gateway.run(input, frames(inRun(IDS, events)));
  await gateway.close();
  const rules = contexts
    .filter(({ event }) => event?.type !== "RUN_STARTED" && event?.type !== "RUN_FINISHED")
    .map(({ decision }) => (decision?.allow === false ? decision.rule : undefined));
  return { delivered, rules };
}

const snapshot = (value: JsonValue): object => ({ type: "STATE_SNAPSHOT", snapshot: value });
const delta = (...patch: JsonPatch): object => ({ type: "STATE_DELTA", delta: patch });

const CAPABILITY = "ag_ui.capability";

test("a snapshot may change what a patch may change, and remove nothing else", async () => {
  const state = { role: "clerk", cart: { items: [1] } };
  const { rules, delivered } = await through(
    [
      snapshot(state),
      snapshot({ ...state, cart: { items: [1, 2] } }),
      snapshot({ cart: { items: [1, 2] } }),
      snapshot({ ...state, role: "admin" }),
      snapshot({ ...state, more: 1 }),
      snapshot({ role: "clerk" }),
      snapshot({ role: "clerk", cart: { items: [3] } }),
      snapshot([]),
      snapshot(null),
    ],
    { state },
  );
  expect(rules).toEqual([
    undefined,
    undefined,
    CAPABILITY,
    CAPABILITY,
    CAPABILITY,
    undefined,
    undefined,
    CAPABILITY,
    CAPABILITY,
  ]);
  const states = delivered.filter(({ type }) => type === "STATE_SNAPSHOT");
  expect(states).toHaveLength(4);
});

test("a blocked change is not part of the client's state", async () => {
  const { rules } = await through([
    snapshot({ role: "admin" }),
    snapshot({ role: "admin", cart: { items: [] } }),
    delta({ op: "add", path: "/cart", value: { items: [] } }),
    snapshot({ cart: { items: [1] } }),
    delta({ op: "remove", path: "/cart/items/0" }),
    snapshot({ cart: { items: [] } }),
  ]);
  expect(rules).toEqual([CAPABILITY, CAPABILITY, undefined, undefined, undefined, undefined]);
});

const key = fc.constantFrom("cart", "role", "a", "b");
const leaf = fc.constantFrom<JsonValue>(0, 1, "x", null, [], {});
const value = fc.oneof(
  leaf,
  fc.dictionary(key, leaf, { maxKeys: 3 }),
  fc.array(leaf, { maxLength: 2 }),
);
const states = fc.dictionary(key, value, { maxKeys: 4 });
const operations = fc.array(
  fc.oneof(
    fc.record({
      op: fc.constantFrom("add" as const, "replace" as const),
      path: fc.constantFrom("/cart", "/cart/a", "/role", "/a", "/a/b", ""),
      value,
    }),
    fc.record({
      op: fc.constant("remove" as const),
      path: fc.constantFrom("/cart", "/cart/a", "/role", "/a", "/a/b"),
    }),
    fc.record({
      op: fc.constantFrom("move" as const, "copy" as const),
      from: fc.constantFrom("/cart", "/cart/a", "/role", "/a"),
      path: fc.constantFrom("/cart/a", "/role", "/b", "/cart/b"),
    }),
  ),
  { minLength: 1, maxLength: 3 },
);

test("a patch may be blocked although the snapshot with its result passes, and never the other way round", async () => {
  const gateway = createInProcess(CART);
  let allowed = 0;
  let blocked = 0;
  await fc.assert(
    fc.asyncProperty(states, operations, async (state, patch) => {
      const result = applyJsonPatch(state, patch as JsonPatch);
      fc.pre(result.applied);
      const decide = async (events: readonly object[]): Promise<boolean> => {
        const input = { ...IDS, messages: [], state, tools: [], context: [] };
        const { contexts } = await gateway.run(
          input as unknown as RunAgentInput,
          frames(inRun(IDS, events)),
        );
        return contexts.every(({ decision }) => decision?.allow === true);
      };
      const after = result.document;
      const whole = await decide([snapshot(after)]);
      const patched = await decide([delta(...(patch as JsonPatch))]);
      const stepwise = await decide((patch as JsonPatch).map((operation) => delta(operation)));
      // An empty state may remove values that a client never sent, so the gateway judges it even if nothing changes.
      expect(whole || !patched || JSON.stringify(after) === "{}").toBe(true);
      expect(stepwise).toBe(patched);
      // If the event passed, only the cart has changed.
      expect(whole ? without(after) : {}).toEqual(whole ? without(state) : {});
      if (whole) allowed++;
      else blocked++;
    }),
    { numRuns: 1500 },
  );
  await gateway.close();
  expect(allowed).toBeGreaterThan(100);
  expect(blocked).toBeGreaterThan(100);
}, 120_000);

function without(state: JsonValue): JsonValue {
  if (state === null || typeof state !== "object" || Array.isArray(state)) return state;
  const { cart: _cart, ...rest } = state;
  return rest;
}

const NAMES = ["__proto__", "constructor/prototype"] as const;
const place = fc.array(fc.constantFrom("a", "b", "0"), { maxLength: 4 });

/** Creates an object with a member under a path, without touching a prototype. */
function nested(path: readonly string[], value: JsonValue): JsonValue {
  return path.reduceRight<JsonValue>(
    (inner, name) => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(inner)}}`) as JsonObject,
    value,
  );
}

test("no member reaches a prototype, in any form", async () => {
  const open = OPEN_POLICY.replace("enabled: true", "max_events_per_second: 1000000");
  const gateway = createInProcess(open);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      place,
      place,
      fc.constantFrom(...NAMES),
      fc.nat({ max: 5 }),
      async (above, below, name, cut) => {
        const path = [...above, ...name.split("/"), ...below];
        const at = Math.min(cut, path.length);
        const pointer = path
          .slice(0, at)
          .map((part) => `/${part}`)
          .join("");
        const rest = nested(path.slice(at), 1);
        const patch = [{ op: "add", path: pointer, value: rest }];
        // A withheld id stays withheld without a notice, so each event has an id of its own.
        const id = `m${(runs += 1)}`;
        const activity = { messageId: id, activityType: "card" };
        const inside = nested(["x", ...path], 1);
        for (const event of [
          snapshot(inside),
          { type: "STATE_DELTA", delta: patch },
          { type: "ACTIVITY_SNAPSHOT", ...activity, messageId: `s${id}`, content: inside },
          { type: "ACTIVITY_DELTA", ...activity, messageId: `d${id}`, patch },
          { type: "CUSTOM", name: "x", value: inside },
          {
            type: "MESSAGES_SNAPSHOT",
            messages: [{ id, role: "activity", activityType: "card", content: inside }],
          },
        ]) {
          const input = { ...IDS, messages: [], state: {}, tools: [], context: [] };
          const run = input as unknown as RunAgentInput;
          const { delivered, contexts } = await gateway.run(run, frames(inRun(IDS, [event])));
          const shown = JSON.stringify(delivered);
          expect(shown).not.toMatch(/__proto__|"prototype"/);
          const rules = contexts.map(({ decision }) => decision?.allow === false && decision.rule);
          expect(rules, JSON.stringify(event)).toContain("gateway/prototype");
        }
      },
    ),
    { numRuns: 60 },
  );
  await gateway.close();
}, 60_000);

test("the words of prototypes pass as values, and as members that reach none", async () => {
  const state = { constructor: "Ferrari", prototype: { by: "constructor" }, word: "__proto__" };
  const { rules } = await through([snapshot(state)], {}, OPEN_POLICY);
  expect(rules).toEqual([undefined]);
  const moved = await through(
    [snapshot({ a: { prototype: {} } }), delta({ op: "move", from: "/a", path: "/constructor" })],
    {},
    OPEN_POLICY,
  );
  expect(moved.rules).toEqual([undefined, "gateway/prototype"]);
});

const activity = (messageId: string, activityType: string, more: object = {}): object => ({
  type: "ACTIVITY_SNAPSHOT",
  messageId,
  activityType,
  content: {},
  ...more,
});

test("an activity replaces one of another type only if the policy allows removing that one", async () => {
  const held: Message[] = [{ id: "w", role: "activity", activityType: "warning", content: {} }];
  const own = [activity("c", "card"), activity("c", "card", { content: { a: 1 } })];
  expect((await through(own, { messages: held })).rules).toEqual([undefined, undefined]);
  const taken = [
    activity("w", "card"),
    { type: "ACTIVITY_DELTA", messageId: "w", activityType: "card", patch: [] },
    activity("w", "card", { replace: false }),
  ];
  const rules: unknown[] = [];
  for (const event of taken) rules.push(...(await through([event], { messages: held })).rules);
  expect(rules).toEqual([CAPABILITY, CAPABILITY, undefined]);
});

test("a message list removes an activity only if the policy allows it", async () => {
  const policy = CART.replace("rules:", "rules:\n  ag_ui_order: { on_error: allow }").replace(
    "ag_ui: {",
    "ag_ui: { restricted_classifications: [destroy], ",
  );
  const messages: Message[] = [
    { id: "u", role: "user", content: "hi" },
    { id: "w", role: "activity", activityType: "warning", content: {} },
  ];
  const card = { id: "c", role: "activity", activityType: "card", content: {} };
  const list = (listed: readonly object[], more: object = {}): object => ({
    type: "MESSAGES_SNAPSHOT",
    messages: listed,
    ...more,
  });
  const all = { metadata: { "@ag-ui/client": { authoritativeActivityTypes: null } } };
  const ruleOf = async (event: object) => (await through([event], { messages }, policy)).rules;
  // The client keeps the activities that a list without any leaves out.
  expect(await ruleOf(list([messages[0] as object]))).toEqual([undefined]);
  expect(await ruleOf(list([messages[0] as object, card]))).toEqual([CAPABILITY]);
  expect(await ruleOf(list([messages[0] as object], all))).toEqual([CAPABILITY]);
  expect(await ruleOf(list([...messages, card]))).toEqual([undefined]);
});
