import type { JsonObject, JsonValue } from "@countersign/core";
import type { JsonPatch } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { splitPointer, touches } from "../patterns/pointer-glob.js";
import { bindingsOf } from "../compile/condition-rules.js";
import { compileCondition } from "../conditions/expression.js";
import { NO_COUNTERS } from "../compile/facts.js";
import { patchChanges } from "./changes.js";
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
/**
 * Globs of existing paths, with and without their descendants: rules that match patches of a
 * document.
 */
const globsFor = (...documents: JsonValue[]): fc.Arbitrary<string[]> => {
  const paths = documents.flatMap((document) => pathsOf(document)).slice(1);
  if (paths.length === 0) return globs;
  const near = fc
    .tuple(fc.constantFrom(...paths), fc.constantFrom("", "", "/*", "/**"), fc.boolean())
    .map(([path, below, isAny]) => {
      const own = toPointer(path);
      return `${isAny ? own.replace(/[^/]*$/, "*") : own}${below}`;
    });
  return fc.array(fc.oneof({ weight: 4, arbitrary: near }, glob), { minLength: 1, maxLength: 4 });
};

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
    there.map((path) => ({
      op: "test" as const,
      path: toPointer(path),
      value: valueAt(before, path),
    })),
    fc.record({
      op: fc.constantFrom("move" as const, "copy" as const),
      path: target,
      from: there.map((path) => toPointer(path)),
    }),
  );
  return fc.array(operation, { minLength: 1, maxLength: 4 }) as fc.Arbitrary<JsonPatch>;
};

/** A state, a patch that applies to it, and the result. */
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

/** With rules that name some of its paths. */
const changeAndRules = change.chain((one) =>
  fc.oneof(globs, globsFor(one.before, one.after)).map((matches) => ({ ...one, matches })),
);

/** Each rule has its own class, so that an aspect identifies its rule. */
function rulesOf(matches: readonly string[]) {
  return compileRefinements({
    state: matches.map((match, at) => ({ match, target: { component_type: `rule-${at}` } })),
  });
}

/** The touched paths; a state that changes nothing touches nothing. */
function touched(facts: EventFacts): Set<string> {
  if (facts.classification === "display") return new Set();
  return new Set([facts, ...(facts.also ?? [])].map((one) => one.target?.component_type ?? "base"));
}

/** The rules whose paths have another value afterwards, found by checking each path alone. */
function expected(before: JsonValue, after: JsonValue, matches: readonly string[]): Set<string> {
  const old = new Map(pathsOf(before).map((path) => [JSON.stringify(path), path]));
  const fresh = new Map(pathsOf(after).map((path) => [JSON.stringify(path), path]));
  const found = new Set<string>();
  for (const [name, path] of new Map([...old, ...fresh])) {
    const was = old.has(name) ? kindOf(valueAt(before, path)) : undefined;
    const is = fresh.has(name) ? kindOf(valueAt(after, path)) : undefined;
    if (was === is && !isBelowReplaced(before, after, path)) continue;
    const rule = matches.findIndex((match) => touches(splitPointer(match), path, false));
    if (rule >= 0) found.add(`rule-${rule}`);
    else if (isLeaf(was) || isLeaf(is)) found.add("base");
    else if (isBare(before, path, was) || isBare(after, path, is)) found.add("base");
  }
  return found;
}

/** Scalars by value; containers by their kind, and whether they are empty when replaced. */
function kindOf(value: JsonValue): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return Array.isArray(value) ? "list" : "object";
}

/**
 * Whether a list above the path became an object or the other way round: that removes all members
 * and adds new ones.
 */
function isBelowReplaced(before: JsonValue, after: JsonValue, path: readonly string[]): boolean {
  return path.some((_, depth) => {
    const above = path.slice(0, depth);
    return kindOf(valueAt(before, above)) !== kindOf(valueAt(after, above));
  });
}

function isBare(value: JsonValue, path: readonly string[], kind: string | undefined): boolean {
  return kind !== undefined && Object.keys(valueAt(value, path) as object).length === 0;
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
  let named = 0;
  fc.assert(
    fc.property(changeAndRules, ({ before, patch, after, matches }) => {
      const snapshot = touched(factsOfSnapshot(before, after, matches));
      const delta = touched(factsOfDelta(before, patch, matches));
      expect(snapshot).toEqual(expected(before, after, matches));
      expect([...delta]).toEqual(expect.arrayContaining([...snapshot]));
      if (snapshot.size > 1) several++;
      if (delta.size > 0 && !delta.has("base")) named++;
      // The smallest patch of the same effect, as one event and as several.
      const steps = changedPaths(before, after) as unknown as JsonPatch;
      const byStep = new Set(
        steps.flatMap((step) => [...touched(factsOfDelta(before, [step], matches))]),
      );
      expect([...byStep]).toEqual(expect.arrayContaining([...snapshot]));
    }),
    { numRuns: 1500 },
  );
  expect(several).toBeGreaterThan(100);
  expect(named).toBeGreaterThan(100);
});

test("a patch of an unknown state touches whatever it may touch of any state", () => {
  let named = 0;
  fc.assert(
    fc.property(changeAndRules, fc.boolean(), ({ before, patch, matches }, isAssumed) => {
      const refinements = rulesOf(matches);
      const client = new ClientState(isAssumed ? {} : undefined, [], undefined, [], isAssumed);
      const facts = classifyEvent({ type: "STATE_DELTA", delta: patch }, { refinements, client });
      const unknown = touched(facts);
      const known = touched(factsOfDelta(before, patch, matches));
      expect([...unknown]).toEqual(expect.arrayContaining([...known]));
      if (!unknown.has("base")) named++;
    }),
    { numRuns: 1500 },
  );
  expect(named).toBeGreaterThan(100);
});

test.each<[string, JsonValue, JsonPatch, string[], string[]]>([
  [
    "a value with members where a rule names the path alone",
    { ui: { theme: "x" } },
    [{ op: "replace", path: "/ui/theme", value: { a: { deep: 1 } } }],
    ["/ui/theme"],
    ["base", "rule-0"],
  ],
  [
    "a value without",
    { ui: { theme: "x" } },
    [{ op: "replace", path: "/ui/theme", value: "dark" }],
    ["/ui/theme"],
    ["rule-0"],
  ],
  [
    "an item that leaves a list in front of others with members",
    { links: [1, { href: "x" }] },
    [{ op: "remove", path: "/links/0" }],
    ["/links/*"],
    ["base", "rule-0"],
  ],
  [
    "an item that leaves a list of texts",
    { links: ["a", "b"] },
    [{ op: "remove", path: "/links/0" }],
    ["/links/*"],
    ["rule-0"],
  ],
  [
    "a value with members that is moved",
    { a: 1, b: { c: 1 } },
    [{ op: "move", from: "/b", path: "/a" }],
    ["/a", "/b"],
    ["base", "rule-0", "rule-1"],
  ],
  [
    "an object in the place of a list, with a member of the same name and kind",
    { a: [["x"]] },
    [{ op: "replace", path: "/a", value: { 0: ["x"] } }],
    ["/a/0"],
    ["base", "rule-0"],
  ],
  ["no operation", { a: 1 }, [], ["/a"], []],
])("a patch and its snapshot are one act: %s", (_what, before, patch, matches, expected) => {
  expect([...touched(factsOfDelta(before, patch, matches))].toSorted()).toEqual(expected);
  const { document } = applyJsonPatch(before, patch) as { document: JsonValue };
  expect([...touched(factsOfSnapshot(before, document, matches))].toSorted()).toEqual(expected);
});

test("what no rule can add to is not counted, and no patch compares more than its bound", () => {
  const rows = Array.from({ length: 3 * MAX_CHANGES }, (_, at) => ({ at }));
  const matches = ["/rows/**", "/other/secret"];
  expect([...touched(factsOfSnapshot({}, { rows }, matches))]).toEqual(["rule-0"]);
  const shift: JsonPatch = [{ op: "remove", path: "/rows/0" }];
  expect([...touched(factsOfDelta({ rows }, shift, matches))]).toEqual(["rule-0"]);
  // Equal neighbours: no position changes, however many are compared.
  const equal = Array.from({ length: 70_000 }, () => ({ a: { b: 1 } }));
  const exact = ["/rows/*", "/rows/*/a", "/rows/*/a/b", "/other/secret"];
  const few = touched(factsOfDelta({ rows: equal.slice(0, 1000) }, shift, exact));
  expect(few).toEqual(new Set(["rule-0", "rule-1", "rule-2"]));
  const many = touched(factsOfDelta({ rows: equal }, shift, exact));
  expect(many).toContain("base");
});

test("a state that is sent again as it is touches nothing, and an unknown one everything", () => {
  fc.assert(
    fc.property(object, globs, (before, matches) => {
      const copy = JSON.parse(JSON.stringify(before)) as JsonValue;
      const again = factsOfSnapshot(before, copy, matches);
      expect(again.also).toBeUndefined();
      expect(again.classification).toBe("display");
      const refinements = rulesOf(matches);
      const unknown = classifyEvent({ type: "STATE_SNAPSHOT", snapshot: copy }, { refinements });
      const root = [{ op: "replace" as const, path: "", value: copy }];
      const delta = classifyEvent({ type: "STATE_DELTA", delta: root }, { refinements });
      expect(touched(unknown)).toEqual(touched(delta));
      // An empty state removes nothing from a client that sent an empty one; another client may
      // have had more.
      const client = new ClientState({}, [], undefined, [], true);
      const wiped = classifyEvent(
        { type: "STATE_SNAPSHOT", snapshot: {} },
        { refinements, client },
      );
      expect(touched(wiped)).toEqual(touched(unknown));
    }),
    { numRuns: 1000 },
  );
});

test("an empty state over one that could not be sent is open where every path is, and nowhere else", () => {
  fc.assert(
    fc.property(fc.array(glob, { maxLength: 3 }), fc.boolean(), (matches, isOpen) => {
      const open = [...matches, ...(isOpen ? ["/**"] : [])];
      const rules = open.map((match) => ({ match, classification: "display" as const }));
      const refinements = compileRefinements({ state: rules }, undefined);
      const client = new ClientState({}, [], undefined, [], true);
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

test("the changes that a condition sees of a patch are those of the whole state before and after it", () => {
  let deep = 0;
  const path = (one: JsonValue): string => (one as { path: string }).path;
  const byPath = (changes: readonly JsonValue[]): JsonValue[] =>
    changes.toSorted((a, b) => (path(a) < path(b) ? -1 : path(a) > path(b) ? 1 : 0));
  fc.assert(
    fc.property(change, ({ before, patch, after }) => {
      const seen = (patchChanges(before, patch) as JsonValue[]).slice(patch.length);
      expect(byPath(seen)).toEqual(byPath(changedPaths(before, after)));
      if (patch.length > 1 && seen.length > 1) deep++;
    }),
    { numRuns: 3000 },
  );
  expect(deep).toBeGreaterThan(100);
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

test("an activity that comes only where there is none is judged whole, unless this run brought one", () => {
  const base = { type: "ACTIVITY_SNAPSHOT", messageId: "m", activityType: "card" } as const;
  fc.assert(
    fc.property(object, condition, (content, when) => {
      const once = { ...base, content, replace: false } as const;
      const ask = (client: ClientState): boolean | undefined =>
        answer(when, classifyEvent(once, { client }), once);
      const inNewPage = ask(new ClientState({}));
      expect(ask(new ClientState({}, [], undefined, [["m", "card"]]))).toBe(inNewPage);
      const shown = new ClientState({});
      shown.see({ ...base, content: {} });
      expect(ask(shown)).toBe(false);
    }),
    { numRuns: 1000 },
  );
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

test("above the bound a snapshot has the classes of all rules, and that without a rule unless one names every path", () => {
  const everything = { match: "/**", classification: "display" } as const;
  const secret = { match: "/secret", classification: "destroy" } as const;
  const theme = { match: "/theme/**", classification: "navigate" } as const;
  type Rule = typeof everything | typeof secret | typeof theme;
  const classesOf = (rules: Rule[], keys: number): string[] => {
    const snapshot = Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at}`, 0]));
    const refinements = compileRefinements({ state: rules });
    const client = new ClientState({});
    const facts = classifyEvent({ type: "STATE_SNAPSHOT", snapshot }, { refinements, client });
    return [facts, ...(facts.also ?? [])].map(({ classification }) => classification).toSorted();
  };
  for (const keys of [MAX_CHANGES - 1, MAX_CHANGES + 1, 3 * MAX_CHANGES]) {
    expect(classesOf([everything], keys)).toEqual(["display"]);
  }
  expect(classesOf([secret, everything], MAX_CHANGES - 1)).toEqual(["display"]);
  expect(classesOf([secret, everything], MAX_CHANGES + 1)).toEqual(["destroy", "display"]);
  expect(classesOf([theme], MAX_CHANGES + 1)).toEqual(["mutate", "navigate"]);
});

test("a condition has no answer about a patch or an empty state of a client that could not send its state", () => {
  const when = 'event.delta.exists(op, op.path == "/user/role")';
  const opened = (): ClientState => new ClientState({}, [], undefined, [], true);
  const patch = fc.oneof(
    state.map((value): JsonPatch => [{ op: "replace", path: "/user", value }]),
    state.map((value): JsonPatch => [{ op: "add", path: "/user", value }]),
    state.map((value): JsonPatch => [{ op: "replace", path: "", value }]),
    fc.constantFrom<JsonPatch>(
      [{ op: "remove", path: "/user" }],
      [{ op: "move", from: "/user", path: "/a" }],
      [{ op: "copy", from: "/a", path: "/user" }],
    ),
  );
  const event = fc.oneof(
    patch.map((delta) => ({ type: "STATE_DELTA" as const, delta })),
    fc
      .constantFrom<JsonValue>({}, [], null, 0)
      .map((snapshot) => ({ type: "STATE_SNAPSHOT" as const, snapshot })),
  );
  fc.assert(
    fc.property(event, (sent) => {
      const facts = classifyEvent(sent, { client: opened() });
      expect(answer(when, facts, sent)).toBeUndefined();
    }),
  );
  const filled = { type: "STATE_SNAPSHOT", snapshot: { user: { role: "clerk" } } } as const;
  expect(answer(when, classifyEvent(filled, { client: opened() }), filled)).toBe(true);
});

test("a name as long as the event, with many members, does not make every pointer as long", () => {
  const members = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, 0]));
  expect(() => changedPaths({}, { ["n".repeat(1_000_000)]: members })).toThrow(RangeError);
});

test("of a state that is not known, no patch takes what an object or a list inherits", () => {
  const unknown = new ClientState(undefined);
  const breaks = (...delta: JsonPatch): boolean =>
    unknown.brokenBy({ type: "STATE_DELTA", delta }) !== undefined;
  for (const name of ["toString", "constructor", "length", "map", "__proto__"]) {
    expect(breaks({ op: "copy", from: `/a/${name}`, path: "/b" })).toBe(true);
    expect(breaks({ op: "move", from: `/a/${name}/b`, path: "/b" })).toBe(true);
  }
  expect(breaks({ op: "remove", path: "/list/length" })).toBe(true);
  expect(breaks({ op: "copy", from: "/a/b", path: "/c" })).toBe(false);
  expect(breaks({ op: "replace", path: "/filter", value: 1 })).toBe(false);
  const known = new ClientState({ filter: { length: 3 } });
  const delta: JsonPatch = [{ op: "move", from: "/filter/length", path: "/filter/size" }];
  expect(known.brokenBy({ type: "STATE_DELTA", delta })).toBeUndefined();
});
