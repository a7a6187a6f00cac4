import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "@countersign/core";
import type { SurfaceComponent } from "./facts.js";
import { createSurfaceModel } from "./index.js";
import { OfficialRenderer } from "./testing/official-renderer.js";
import { OPEN, operation } from "./testing/surfaces.js";

const RUNS = Number(process.env["SURFACE_RUNS"] ?? 1_500);

/** What the facts of all events together say is drawn. */
class Drawn {
  readonly components = new Map<string, SurfaceComponent>();
  readonly model = createSurfaceModel();

  apply(operations: readonly JsonValue[]) {
    const content = { a2ui_operations: [...operations] };
    const facts = this.model.apply({ kind: "activity", messageId: "m", activityType: "a2ui-surface", content });
    for (const { componentId, scope } of facts.removed) this.components.delete(`${componentId.slice(2)}\n${scope}`);
    for (const one of facts.components) this.components.set(`${one.id}\n${one.scope}`, one);
    return facts;
  }
}

test("what the model resolves, the official renderer draws", () => {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 8 }), (operations) => {
      const official = new OfficialRenderer();
      official.process(OPEN);
      const ours = new Drawn();
      ours.apply([OPEN]);
      let wasCyclic = false;
      for (const one of operations) {
        let isRefused = false;
        try {
          official.process(one);
        } catch {
          isRefused = true;
        }
        const facts = ours.apply([one]);
        expect(facts.problems.some(({ isUndecided, code }) => isUndecided && code !== "surface/cycle")).toBe(isRefused);
        if (isRefused) return;
        const { nodes, isCyclic } = official.nodes("s");
        const reported = facts.problems.some(({ code }) => code === "surface/cycle");
        if (isCyclic && !wasCyclic) expect(reported).toBe(true);
        wasCyclic ||= isCyclic || reported;
        if (wasCyclic) return;
        expect([...ours.components.keys()].toSorted()).toEqual([...nodes.keys()].toSorted());
        for (const [key, node] of nodes) {
          const mine = ours.components.get(key);
          expect(mine?.componentType).toBe(`a2ui:${node.type}`);
          for (const text of node.texts) expect(mine?.label).toContain(text);
          if (node.action !== undefined || node.type === "TextField") expect(mine?.label).toBe(node.label);
          expect(mine?.urls.find(({ use }) => use === "image")?.value || undefined).toBe(node.url);
          const [action] = mine?.actions ?? [];
          expect(action?.name).toBe(node.action?.name);
          if (node.action !== undefined) expect(action?.context).toEqual(plain(node.action.context));
        }
      }
    }),
    { numRuns: RUNS },
  );
});

test("an event that is taken back leaves no trace", () => {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 6 }), operation, operation, (before, blocked, after) => {
      const [kept, taken] = [new Drawn(), new Drawn()];
      for (const drawn of [kept, taken]) for (const one of [OPEN, ...before]) drawn.apply([one]);
      taken.apply([blocked]);
      taken.model.undo();
      const [expected, actual] = [kept.apply([after]), taken.apply([after])];
      // A child that was missing before may be reported again.
      const sorted = ({ components, removed }: typeof expected) => [
        components.map(({ componentId, scope, subtreeHash, label }) => `${componentId} ${scope} ${subtreeHash} ${label}`).toSorted(),
        removed.map(({ componentId, scope }) => `${componentId} ${scope}`).toSorted(),
      ];
      const isCyclic = [expected, actual].some(({ problems }) => problems.length > 0);
      if (!isCyclic) expect(sorted(actual)).toEqual(sorted(expected));
    }),
    { numRuns: RUNS },
  );
});

/** Members that are undefined are sent as null. */
function plain(context: unknown): unknown {
  return JSON.parse(JSON.stringify(context, (_, value: unknown) => value ?? null));
}
