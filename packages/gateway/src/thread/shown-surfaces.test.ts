import { SmallMap } from "@countersign/core";
import { createSurfaceModel } from "@countersign/surface";
import type { SurfaceFacts } from "@countersign/surface";
import { expect, test } from "vitest";
import { button, drawing } from "../testing/surface-thread.js";
import {
  MAX_DRAFTS,
  MAX_SURFACE_LENGTH,
  MAX_SURFACES,
  MAX_SURFACES_LENGTH,
  ShownSurfaces,
} from "./shown-surfaces.js";
import type { SurfaceState } from "./shown-surfaces.js";

const facts = (messageId: string, operations: readonly object[]): SurfaceFacts =>
  createSurfaceModel().apply({
    kind: "activity",
    messageId,
    activityType: "a2ui-surface",
    content: { a2ui_operations: structuredClone(operations) as never },
  });

function open() {
  const table = new SmallMap<string, SurfaceState>();
  return { table, ledger: new ShownSurfaces(table, "r") };
}
const surfaceIds = (table: SmallMap<string, SurfaceState>): string[] =>
  Array.from(table, ([, { surfaceId }]) => surfaceId);
const lengthOf = (table: SmallMap<string, SurfaceState>): number =>
  Array.from(table, ([, state]) => JSON.stringify(state).length).reduce((sum, one) => sum + one, 0);

test("a row has ids, names and keys, and no value of the data or text of the surface", () => {
  const { ledger } = open();
  const data = { version: "v0.9", updateDataModel: { surfaceId: "s", path: "/id", value: "IBAN" } };
  ledger.see(facts("m", [...drawing("s", button("pay", "pay_invoice", ["id"])), data]));
  const rows = JSON.stringify(ledger.take());
  expect(rows).toContain("pay_invoice");
  expect(rows).not.toMatch(/IBAN|Press/u);
});

test("a thread keeps its newest surfaces, and the rows of the others are removed", () => {
  const { table, ledger } = open();
  for (let count = 0; count <= MAX_SURFACES; count += 1) {
    ledger.see(facts(`m${count}`, drawing(`s${count}`, button("b", "go"))));
  }
  expect(table.size).toBe(MAX_SURFACES);
  expect(surfaceIds(table)).not.toContain("s0");
  const { rows, removed } = ledger.take() ?? { rows: [], removed: [] };
  expect([rows.length, removed.length]).toEqual([MAX_SURFACES, 1]);
  expect(ledger.take()).toBeUndefined();
});

test("the rows of a surface and of a thread have a length, whatever the agent draws", () => {
  const { table, ledger } = open();
  const many = Array.from({ length: 400 }, (_, index) =>
    button(`button-${index}`, "x".repeat(200), ["k".repeat(100)]),
  );
  for (let count = 0; count < 40; count += 1) {
    ledger.see(facts(`m${count}`, drawing(`s${count}`, ...many)));
    for (const [, state] of table) {
      expect(JSON.stringify(state).length).toBeLessThan(MAX_SURFACE_LENGTH * 1.1);
    }
  }
  expect(lengthOf(table)).toBeLessThan(MAX_SURFACES_LENGTH * 1.1);
  expect(surfaceIds(table)).toContain("s39");
  const long = drawing("long", button("b".repeat(300), "go"), button("c", "go"));
  ledger.see(facts("long", long));
  const last = Array.from(table, ([, state]) => state).find((one) => one.surfaceId === "long");
  expect(last?.actions?.map(({ id }) => id)).toEqual(["c"]);
});

test("an event that changes no action writes no row", () => {
  const { ledger } = open();
  const model = createSurfaceModel();
  const apply = (operations: readonly object[]): SurfaceFacts =>
    model.apply({
      kind: "activity",
      messageId: "m",
      activityType: "a2ui-surface",
      content: { a2ui_operations: operations as never },
    });
  const card = drawing("s", button("b", "go"), [{ id: "t", component: "Text", text: "1" }]);
  ledger.see(apply(card));
  expect(ledger.take()?.rows).toHaveLength(1);
  const other = drawing("s", button("b", "go"), [{ id: "t", component: "Text", text: "2" }]);
  ledger.see(apply(other));
  expect(ledger.take()).toBeUndefined();
});

test("a run follows its newest surfaces without a button until they have one", () => {
  const { table, ledger } = open();
  const model = createSurfaceModel({ limits: { maxSurfaces: 2 * MAX_DRAFTS } });
  const see = (id: number, ...parts: readonly object[][]): void =>
    ledger.see(
      model.apply({
        kind: "activity",
        messageId: `m${id}`,
        activityType: "a2ui-surface",
        content: { a2ui_operations: drawing(`s${id}`, ...parts) as never },
      }),
    );
  see(0, button("b", "go"));
  for (let id = 1; id <= MAX_DRAFTS + 1; id += 1) see(id, [{ id: "t", component: "Divider" }]);
  for (const id of [0, 1, 2, MAX_DRAFTS + 1]) see(id, button("b", "again"));
  const names = Array.from(table, ([, { surfaceId, actions = [] }]) => [
    surfaceId,
    ...actions.map(({ name }) => name),
  ]);
  expect(names.toSorted()).toEqual([
    ["s0", "again"],
    [`s${MAX_DRAFTS + 1}`, "again"],
  ]);
});
