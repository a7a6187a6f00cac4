import type { JsonObject, JsonValue } from "@countersign/core";
import type { JsonPatch, Message } from "@countersign/wire";
import { expect, test } from "vitest";
import { compilePolicy } from "../compile/compile.js";
import { loadPolicy } from "../document/load.js";
import { patchChanges } from "./changes.js";
import { ClientState } from "./client-state.js";
import { ClientMessages } from "./client-messages.js";
import { classifyEvent } from "./event.js";
import { patchAspects, snapshotAspects } from "./state.js";

/** A value that counts how often a member of it is read, and how often its names are listed. */
function counted<Value extends object>(
  value: Value,
): { value: Value; reads: () => number; lists: () => number } {
  let reads = 0;
  let lists = 0;
  const proxy = new Proxy(value, {
    get(target, key, receiver): unknown {
      reads += 1;
      return Reflect.get(target, key, receiver);
    },
    ownKeys(target) {
      lists += 1;
      return Reflect.ownKeys(target);
    },
  });
  return { value: proxy, reads: () => reads, lists: () => lists };
}

const members = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, at]));
const refinementsOf = (...rules: string[]) =>
  compilePolicy(
    loadPolicy(`hushspec: "0.1.0"
rules:
  ag_ui: { enabled: true }
  ag_ui_classify:
    state: [${rules.map((match) => `{ match: "${match}", classification: display }`).join(", ")}]
`),
  ).refinements;

test.each<[string, JsonValue]>([
  ["an empty state", {}],
  ["a state with one member", { ui: { theme: "dark" } }],
  ["another value", 1],
])("%s costs no more over a large state than over a small one", (_name, snapshot) => {
  const { state } = refinementsOf("/ui/theme/**", "/cart");
  const base = { eventType: "state_update", classification: "mutate", derived: "mutate" } as const;
  const reads = [100, 10_000].map((count) => {
    const held = counted(members(count));
    const [first] = snapshotAspects(base, held.value, snapshot, state);
    expect(first.classification).toBe("mutate");
    return held.reads();
  });
  expect(reads[1]).toBe(reads[0]);
});

test.each<[string, JsonObject]>([
  ["takes them away", { ui: { theme: {} } }],
  ["takes them away and changes what needs a capability", { ui: { theme: {} }, x: 1 }],
  ["takes away all that is above them", { x: 1 }],
])("a state that %s costs no more for many members below a rule than for few", (_name, after) => {
  const { state } = refinementsOf("/ui/theme/**");
  const base = { eventType: "state_update", classification: "mutate", derived: "mutate" } as const;
  const reads = [100, 20_000].map((count) => {
    const held = counted(members(count));
    const [first] = snapshotAspects(base, { ui: { theme: held.value } }, after, state);
    expect(first.classification).toBe("x" in after ? "mutate" : "display");
    // A rule that covers all of them answers before they are listed; listing a member costs as much as comparing it.
    expect(held.lists()).toBe("ui" in after ? 1 : 0);
    return held.reads();
  });
  expect(reads[1]).toBe(reads[0]);
});

test.each<[string, JsonPatch, number]>([
  ["adds", [{ op: "add", path: "/big/new", value: 1 }], 1],
  ["replaces", [{ op: "replace", path: "/big/key5", value: 1 }], 1],
  ["removes", [{ op: "remove", path: "/big/key5" }], 1],
  ["copies", [{ op: "copy", from: "/big/key5", path: "/big/new" }], 1],
  ["moves", [{ op: "move", from: "/big/key5", path: "/big/new" }], 2],
  [
    "tests and replaces",
    [
      { op: "test", path: "/big/key5", value: 5 },
      { op: "replace", path: "/big/key5", value: 1 },
    ],
    1,
  ],
])(
  "a patch that %s one member of an object costs no more for many members than for few",
  (_name, patch, changes) => {
    const { state } = refinementsOf("/other/**");
    const base = {
      eventType: "state_update",
      classification: "mutate",
      derived: "mutate",
    } as const;
    const work = [100, 9000].map((count) => {
      const held = counted(members(count));
      expect(patchChanges({ big: held.value, kept: 1 }, patch)).toHaveLength(
        patch.length + changes,
      );
      patchAspects(base, { big: held.value, kept: 1 }, patch, state);
      return [held.reads(), held.lists()];
    });
    expect(work[1]).toEqual(work[0]);
  },
);

test("a rule for a member that goes with thousands of others is found", () => {
  const refinements = refinementsOf("/key7000/**");
  const client = new ClientState({ ...members(8000), key7000: { deep: 1 } });
  const event = { type: "STATE_SNAPSHOT", snapshot: {} } as const;
  const { also, classification } = classifyEvent(event, { refinements, client });
  expect([classification, ...(also ?? []).map((one) => one.classification)]).toEqual([
    "mutate",
    "display",
  ]);
});

test("short lists over a long conversation read its ids once", () => {
  let reads = 0;
  const sent = Array.from({ length: 5000 }, (_, at): Message => ({
    get id() {
      reads += 1;
      return `m${at}`;
    },
    role: "assistant",
    content: `text ${at}`,
  }));
  const messages = new ClientMessages({ sent });
  const list = (...ids: string[]) => ({
    type: "MESSAGES_SNAPSHOT" as const,
    messages: ids.map((id): Message => ({ id, role: "assistant", content: "another text" })),
  });
  messages.isKeptBy(list("new"));
  reads = 0;
  for (let at = 0; at < 100; at += 1) {
    expect(messages.isKeptBy(list())).toBe(false);
    expect(messages.isKeptBy(list("new"))).toBe(false);
  }
  // Each list is compared up to the first message that it leaves out.
  expect(reads).toBeLessThan(2000);
});
