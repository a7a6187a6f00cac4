import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "@countersign/core";
import type { SurfaceComponent, SurfaceFacts } from "../base/facts.js";
import { createSurfaceModel } from "../index.js";
import { OfficialRenderer } from "../testing/official-renderer.js";
import type { OfficialNode } from "../testing/official-renderer.js";
import { OfficialLegacyRenderer } from "../testing/official-legacy-renderer.js";
import { asLegacy, OPEN, operation } from "../testing/surfaces.js";

/** Set to more for a long run. */
const RUNS = Number(process.env["SURFACE_RUNS"] ?? 400);

const operations = fc.array(operation, { minLength: 1, maxLength: 8 });

/** What the facts of all events together say is drawn. */
class Drawn {
  readonly components = new Map<string, SurfaceComponent>();
  readonly model = createSurfaceModel();

  apply(one: JsonValue): SurfaceFacts {
    const content = { a2ui_operations: [one] };
    const activity = { messageId: "m", activityType: "a2ui-surface", content };
    const facts = this.model.apply({ kind: "activity", ...activity });
    for (const { componentId, scope } of facts.removed) {
      this.components.delete(`${componentId.slice(2)}\n${scope}`);
    }
    for (const component of facts.components) {
      this.components.set(`${component.id}\n${component.scope}`, component);
    }
    return facts;
  }
}

/** How a component differs from what the official renderer draws. */
function differences(mine: SurfaceComponent | undefined, node: OfficialNode): string[] {
  if (mine === undefined) return [`${node.key} is not there`];
  const found: string[] = [];
  const compare = (name: string, ours: unknown, theirs: unknown): void => {
    const [left, right] = [plain(ours), plain(theirs)];
    if (left !== right) found.push(`${node.key} ${name}: ${left}, not ${right}`);
  };
  compare("type", mine.componentType, `a2ui:${node.type}`);
  for (const text of node.texts) compare(`text ${text}`, mine.label.includes(text), true);
  const isActing = node.action !== undefined || node.type === "TextField";
  if (isActing) compare("label", mine.label, node.label);
  compare("url", mine.urls.find(({ use }) => use === "image")?.value || undefined, node.url);
  const [action] = mine.actions;
  compare(
    "action",
    action && [action.name, action.context],
    node.action && [node.action.name, node.action.context],
  );
  return found;
}

function difference(
  drawn: ReadonlyMap<string, SurfaceComponent>,
  nodes: ReadonlyMap<string, OfficialNode>,
): string[] {
  return [
    ...[...drawn.keys()].filter((key) => !nodes.has(key)).map((key) => `${key} is too much`),
    ...[...nodes].flatMap(([key, node]) => differences(drawn.get(key), node)),
  ];
}

/** Members that are undefined are sent as null. */
function plain(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => inner ?? null) ?? "none";
}

const isUndecided = ({ problems }: SurfaceFacts): boolean =>
  problems.some((problem) => problem.isUndecided && problem.code !== "surface/cycle");
const isCyclic = ({ problems }: SurfaceFacts): boolean =>
  problems.some(({ code }) => code === "surface/cycle");

function accepts(process: () => void): boolean {
  try {
    process();
    return true;
  } catch {
    return false;
  }
}

test("what the model resolves, the official renderer draws", () => {
  let compared = 0;
  const property = fc.property(operations, (list) => {
    const official = new OfficialRenderer();
    const ours = new Drawn();
    official.process(OPEN);
    ours.apply(OPEN);
    for (const one of list) {
      const isAccepted = accepts(() => official.process(one));
      const facts = ours.apply(one);
      expect(isUndecided(facts)).toBe(!isAccepted);
      const theirs = official.nodes("s");
      // A renderer draws a placeholder in a cycle; here the whole payload is undecided.
      if (!isAccepted || isCyclic(facts)) return;
      expect(theirs.isCyclic).toBe(false);
      expect(difference(ours.components, theirs.nodes)).toEqual([]);
      compared += theirs.nodes.size;
    }
  });
  fc.assert(property, { numRuns: RUNS });
  expect(compared).toBeGreaterThan(RUNS);
});

test("what the model resolves of A2UI 0.8, the official renderer draws", () => {
  let compared = 0;
  const property = fc.property(operations, (list) => {
    const official = new OfficialLegacyRenderer();
    const ours = new Drawn();
    const open = { beginRendering: { surfaceId: "s", root: "root" } };
    official.process(open);
    ours.apply(open);
    for (const one of list.map(asLegacy)) {
      const isAccepted = accepts(() => official.process(one));
      const facts = ours.apply(one);
      if (!isAccepted || isCyclic(facts) || isUndecided(facts)) return;
      const nodes = official.nodes("s");
      expect(difference(ours.components, nodes)).toEqual([]);
      compared += nodes.size;
    }
  });
  fc.assert(property, { numRuns: RUNS });
  expect(compared).toBeGreaterThan(RUNS / 4);
});

test("an event that is taken back leaves no trace", () => {
  const property = fc.property(operations, operation, operation, (before, blocked, after) => {
    const [kept, taken] = [new Drawn(), new Drawn()];
    for (const drawn of [kept, taken]) for (const one of [OPEN, ...before]) drawn.apply(one);
    taken.apply(blocked);
    taken.model.undo();
    const [expected, actual] = [kept.apply(after), taken.apply(after)];
    // In a cycle the reference that is refused depends on which was there first.
    if (isCyclic(expected) || isCyclic(actual)) return;
    expect(formOf(actual)).toEqual(formOf(expected));
  });
  fc.assert(property, { numRuns: RUNS });
  expect.hasAssertions();
});

function formOf({ components, removed }: SurfaceFacts): string[][] {
  return [
    components
      .map((one) => `${one.componentId} ${one.scope} ${one.subtreeHash} ${one.label}`)
      .toSorted(),
    removed.map(({ componentId, scope }) => `${componentId} ${scope}`).toSorted(),
  ];
}
