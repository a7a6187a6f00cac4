import { expect, test } from "vitest";
import { entry } from "../testing/decisions.js";
import { laneOf, layOut, STEP } from "./lanes.js";

test("every kind of receipt has its lane", () => {
  const chat = { component_type: "chat-window", component_id: "main" };
  const card = { component_type: "order-card" };
  const lanes = [
    laneOf(entry(0, { event_type: "lifecycle" }, { direction: "inbound" })),
    laneOf(entry(1, { target: chat })),
    laneOf(entry(2, { event_type: { custom: "refund" } })),
    laneOf(entry(3, { event_type: "form_action" })),
    laneOf(entry(4, { event_type: "lifecycle", target: chat })),
    laneOf(entry(5, { event_type: "state_update" })),
    laneOf(entry(6, { event_type: "state_update", target: card })),
    laneOf(entry(7, { event_type: "lifecycle", target: card })),
    laneOf(entry(8, { event_type: "notification" })),
    laneOf(entry(9, { event_type: "lifecycle" })),
    laneOf(entry(10, { event_type: "error" })),
  ];
  expect(lanes).toEqual([
    "request",
    "text",
    "tools",
    "tools",
    "tools",
    "state",
    "activity",
    "activity",
    "activity",
    "lifecycle",
    "lifecycle",
  ]);
});

test("receipts stand in their order, and a silence is a gap with its length", () => {
  const at = (seq: number, received_at: number) => entry(seq, {}, { received_at });
  const { placed, gaps, width } = layOut([at(0, 0), at(1, 499), at(2, 2499)]);
  expect(placed.map(({ x }) => x)).toEqual([0, STEP, 2 * STEP + 64]);
  expect(gaps).toEqual([{ x: 2 * STEP, milliseconds: 2000 }]);
  expect(width).toBe(3 * STEP + 64);
  expect(layOut([])).toEqual({ placed: [], gaps: [], width: 0 });
});
