import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { JsonPatch } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { splitPointer, touches } from "../patterns/pointer-glob.js";
import { bindingsOf } from "../compile/condition-rules.js";
import { compileCondition } from "../conditions/expression.js";
import { NO_COUNTERS } from "../compile/facts.js";
import { ClientState } from "./client-state.js";
import { changedPaths, MAX_CHANGES } from "./difference.js";
import { classifyEvent } from "./event.js";
import type { EventFacts } from "./facts.js";
import { compileRefinements } from "./refinement.js";
import { toPointer } from "./stopped-path.js";

const KEYS = ["a", "b", "c", "role", "", "0", "1", "x/y", "m~n"];
const key = fc.constantFrom(...KEYS);
const { state } = fc.letrec<{ state: JsonValue; object: JsonObject; list: JsonValue[] }>((tie) => ({
  state: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<JsonValue>(0, 1, "x", null, true, [], {}),
    tie("object"),
    tie("list"),
  ),
  object: fc.dictionary(key, tie("state"), { maxKeys: 4 }),
  list: fc.array(tie("state"), { maxLength: 3 }),
}));
const object = fc.dictionary(key, state, { maxKeys: 4 });
const glob = fc
  .array(fc.constantFrom(...KEYS, "*", "**", "r*"), { minLength: 1, maxLength: 4 })
  .map((parts) =>
    parts.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
  );
const globs = fc.array(glob, { minLength: 1, maxLength: 4 });

/** Paths that exist, and some that do not. */
function pathsOf(value: JsonValue, path: readonly string[] = []): string[][] {
  const here = [[...path]];
  if (value === null || typeof value !== "object") return here;
  const below = Object.keys(value).flatMap((name) =>
    pathsOf((value as JsonObject)[name] as JsonValue, [...path, name]),
  );
  return [...here, ...below];
}

const patchFor = (before: JsonValue): fc.Arbitrary<JsonPatch> => {
  const there = fc.constantFrom(...pathsOf(before));
  const target = fc
    .tuple(there, fc.option(fc.oneof(key, fc.constant("-")), { nil: undefined }))
    .map(([path, more]) => toPointer(more === undefined ? path : [...path, more]));
  const operation = fc.oneof(
    fc.record({
      op: fc.constantFrom("add" as const, "replace" as const),
      path: target,
      value: state,
    }),
    fc.record({ op: fc.constant("remove" as const), path: target }),
    fc.record({
      op: fc.constantFrom("move" as const, "copy" as const),
      path: target,
      from: there.map((path) => toPointer(path)),
    }),
  );
  return fc.array(operation, { minLength: 1, maxLength: 4 }) as fc.Arbitrary<JsonPatch>;
};

/** A state, a patch that applies to it, and what it makes of it. */
const change = object.chain((before) =>
  patchFor(before)
    .map((patch) => ({ before, patch, result: applyJsonPatch(before, patch) }))
    .filter(({ result }) => result.applied)
    .map(({ patch, result }) => ({
      before: before as JsonValue,
      patch,
      after: (result as { document: JsonValue }).document,
    })),
);

/** Rules get classes of their own, so that an aspect names its rule. */
function rulesOf(matches: readonly string[]) {
  return compileRefinements({
    state: matches.map((match, at) => ({ match, target: { component_type: `rule-${at}` } })),
  });
}

function touched(facts: EventFacts): Set<string> {
  return new Set([facts, ...(facts.also ?? [])].map((one) => one.target?.component_type ?? "base"));
}

/** The rules whose paths have another value afterwards, found by looking at each path alone. */
function expected(before: JsonValue, after: JsonValue, matches: readonly string[]): Set<string> {
  const old = new Map(pathsOf(before).map((path) => [JSON.stringify(path), path]));
  const fresh = new Map(pathsOf(after).map((path) => [JSON.stringify(path), path]));
  const found = new Set<string>();
  for (const [name, path] of new Map([...old, ...fresh])) {
    const was = old.has(name) ? kindOf(valueAt(before, path)) : undefined;
    const is = fresh.has(name) ? kindOf(valueAt(after, path)) : undefined;
    if (was === is) continue;
    const rule = matches.findIndex((match) => touches(splitPointer(match), path, false));
    if (rule >= 0) found.add(`rule-${rule}`);
    else if (isLeaf(was) || isLeaf(is)) found.add("base");
  }
  return found;
}

/** Scalars by value; containers by their kind, and whether they have anything in them where they are replaced. */
function kindOf(value: JsonValue): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return Array.isArray(value) ? "list" : "object";
}

function isLeaf(kind: string | undefined): boolean {
  return kind !== undefined && kind !== "list" && kind !== "object";
}

function valueAt(value: JsonValue, path: readonly string[]): JsonValue {
  return path.reduce<JsonValue>((one, name) => (one as JsonObject)[name] as JsonValue, value);
}

const factsOfSnapshot = (before: JsonValue, snapshot: JsonValue, matches: readonly string[]) =>
  classifyEvent(
    { type: "STATE_SNAPSHOT", snapshot },
    { refinements: rulesOf(matches), client: new ClientState(before) },
  );
const factsOfDelta = (before: JsonValue, delta: JsonPatch, matches: readonly string[]) =>
  classifyEvent(
    { type: "STATE_DELTA", delta },
    { refinements: rulesOf(matches), client: new ClientState(before) },
  );

test("a snapshot touches every rule whose path it adds, removes or replaces, and no rule that the patch does not", () => {
  let several = 0;
  fc.assert(
    fc.property(change, globs, ({ before, patch, after }, matches) => {
      const snapshot = touched(factsOfSnapshot(before, after, matches));
      const delta = touched(factsOfDelta(before, patch, matches));
      for (const rule of expected(before, after, matches)) expect(snapshot).toContain(rule);
      expect([...delta, "base"]).toEqual(expect.arrayContaining([...snapshot]));
      if (snapshot.size > 1) several++;
      // The smallest patch of the same effect, as one event and as several.
      const steps = changedPaths(before, after) as unknown as JsonPatch;
      const byStep = new Set(
        steps.flatMap((step) => [...touched(factsOfDelta(before, [step], matches))]),
      );
      const inSteps = steps.length === 0 ? snapshot : byStep;
      expect([...inSteps]).toEqual(expect.arrayContaining([...snapshot]));
    }),
    { numRuns: 2000 },
  );
  expect(several).toBeGreaterThan(100);
});

test("a state that is sent again as it is touches nothing, and an unknown one everything", () => {
  fc.assert(
    fc.property(object, globs, (before, matches) => {
      const copy = JSON.parse(JSON.stringify(before)) as JsonValue;
      const again = factsOfSnapshot(before, copy, matches);
      const refinements = rulesOf(matches);
      const unknown = classifyEvent({ type: "STATE_SNAPSHOT", snapshot: copy }, { refinements });
      const isEmpty = Object.keys(before).length === 0;
      expect(isEmpty || again.also === undefined).toBe(true);
      expect(isEmpty || again.classification === "display").toBe(true);
      expect(!isEmpty || isDeepStrictEqual(touched(again), touched(unknown))).toBe(true);
      const root = factsOfDelta(before, [{ op: "replace", path: "", value: copy }], matches);
      expect(touched(unknown)).toEqual(touched(root));
    }),
    { numRuns: 1000 },
  );
});

test("an empty state over an empty one is open where every path is, and nowhere else", () => {
  fc.assert(
    fc.property(fc.array(glob, { maxLength: 3 }), fc.boolean(), (matches, isOpen) => {
      const open = [...matches, ...(isOpen ? ["/**"] : [])];
      const rules = open.map((match) => ({ match, classification: "display" as const }));
      const refinements = compileRefinements({ state: rules }, undefined);
      const client = new ClientState({});
      const event = { type: "STATE_SNAPSHOT", snapshot: {} } as const;
      const facts = classifyEvent(event, { refinements, client });
      const isWhole = isOpen || matches.some((match) => /^(?:\/\*\*)+$/u.test(match));
      expect(facts.classification).toBe(isWhole ? "display" : "mutate");
    }),
  );
});

test("the changes of a snapshot are the changes of the state, however it came about", () => {
  fc.assert(
    fc.property(change, ({ before, patch, after }) => {
      const client = new ClientState(before);
      for (const operation of patch) client.see({ type: "STATE_DELTA", delta: [operation] });
      expect(client.state).toEqual(after);
      expect(changedPaths(before, after).length > 0).toBe(
        JSON.stringify(sorted(before)) !== JSON.stringify(sorted(after)),
      );
      client.see({ type: "STATE_SNAPSHOT", snapshot: before });
      client.see({ type: "STATE_DELTA", delta: patch });
      expect(client.state).toEqual(after);
      expect(changedPaths(client.state as JsonValue, after)).toEqual([]);
    }),
    { numRuns: 2000 },
  );
});

function sorted(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const names = Object.keys(value).toSorted();
  return { members: names.map((name) => [name, sorted(value[name] as JsonValue)]) };
}

const compiled = new Map<string, ReturnType<typeof compileCondition>>();

function answer(when: string, facts: EventFacts, event: object): boolean | undefined {
  const asked = compiled.get(when) ?? compileCondition(when);
  compiled.set(when, asked);
  return asked.evaluate(
    bindingsOf({
      event: facts,
      transport: "sse",
      counters: NO_COUNTERS,
      variables: { event: event as JsonObject },
    }),
  );
}

const WORDS = ["/a", "/role", "/b/role", "/c", "/a/b", "/0"];
const condition = fc
  .tuple(
    fc.constantFrom(
      (path: string) => `event.delta.exists(op, op.path == "${path}")`,
      (path: string) => `event.delta.exists(op, op.path.startsWith("${path}"))`,
      (path: string) => `event.delta.exists(op, op.path.matches("${path}(/|$)"))`,
      (path: string) =>
        `event.delta.exists(op, op.path == "${path}" && has(op.value) && op.value == 1)`,
      (path: string) => `event.delta.exists(op, op.op == "remove" && op.path == "${path}")`,
    ),
    fc.constantFrom(...WORDS),
  )
  .map(([make, path]) => make(path));

test("a condition that finds a change in a snapshot finds it in the patch, and in the same change of an activity", () => {
  let found = 0;
  fc.assert(
    fc.property(change, condition, ({ before, patch, after }, when) => {
      const snapshot = { type: "STATE_SNAPSHOT", snapshot: after } as const;
      const delta = { type: "STATE_DELTA", delta: patch } as const;
      const inSnapshot = answer(when, factsOfSnapshot(before, after, []), snapshot);
      const inDelta = answer(when, factsOfDelta(before, patch, []), delta);
      if (inSnapshot === true) found++;
      expect(inDelta === true || inSnapshot === false).toBe(true);
      expect(inSnapshot).toBeDefined();
      expect(inDelta).toBeDefined();
      if (before === null || typeof before !== "object" || Array.isArray(before)) return;
      if (after === null || typeof after !== "object" || Array.isArray(after)) return;
      const held = { id: "m", role: "activity", activityType: "card", content: before } as const;
      const client = new ClientState({}, [{ ...held }]);
      const base = { messageId: "m", activityType: "card" } as const;
      const patched = { type: "ACTIVITY_DELTA", ...base, patch } as const;
      const replaced = { type: "ACTIVITY_SNAPSHOT", ...base, content: after } as const;
      expect(answer(when, classifyEvent(patched, { client }), patched)).toBe(inDelta);
      expect(answer(when, classifyEvent(replaced, { client }), replaced)).toBe(inSnapshot);
    }),
    { numRuns: 3000 },
  );
  expect(found).toBeGreaterThan(100);
});

test("a condition that cannot know what changes has no answer", () => {
  const when = 'event.delta.exists(op, op.path == "/a")';
  const unknown = { client: new ClientState(undefined) };
  const snapshot = { type: "STATE_SNAPSHOT", snapshot: {} } as const;
  expect(answer(when, classifyEvent(snapshot, unknown), snapshot)).toBeUndefined();
  const delta = { type: "STATE_DELTA", delta: [{ op: "remove", path: "/b" }] } satisfies object;
  expect(answer(when, classifyEvent(delta as never, unknown), delta)).toBeUndefined();
  const many = Object.fromEntries(
    Array.from({ length: MAX_CHANGES + 1 }, (_, at) => [`k${at}`, 0]),
  );
  const large = { type: "STATE_SNAPSHOT", snapshot: many } as const;
  const known = { client: new ClientState({}) };
  expect(answer(when, classifyEvent(large, known), large)).toBeUndefined();
  expect(answer("event.type == 'STATE_SNAPSHOT'", classifyEvent(large, known), large)).toBe(true);
});

test("a name as long as the event, with many members, does not make every pointer as long", () => {
  const members = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, 0]));
  expect(() => changedPaths({}, { ["n".repeat(1_000_000)]: members })).toThrow(RangeError);
});
