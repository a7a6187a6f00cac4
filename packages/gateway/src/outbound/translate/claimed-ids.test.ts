import { expect, test } from "vitest";
import type { Recorder } from "../../event/recorder.js";
import { claimId, isFreeId } from "./claimed-ids.js";

const log = (): Recorder => ({ appendAll: async () => [] });
const at = (receivedAt: number, sessionId = "s"): Parameters<typeof isFreeId>[2] => ({
  agent: "a",
  sessionId,
  receivedAt,
});

test("an id names one receipt of a session in a second, also if the clock goes back", () => {
  const one = log();
  expect(isFreeId(one, "evt_1", at(10_000))).toBe(true);
  expect(isFreeId(one, "evt_1", at(10_999))).toBe(false);
  expect(isFreeId(one, "evt_1", at(10_999, "other"))).toBe(true);
  expect(isFreeId(one, "evt_1", at(11_000))).toBe(true);
  expect(isFreeId(one, "evt_1", at(10_500))).toBe(false);
  expect(isFreeId(log(), "evt_1", at(10_500))).toBe(true);
});

test("the oldest ids are dropped first, and none of the current second", () => {
  const one = log();
  for (const id of ["1", "2", "3"]) expect(isFreeId(one, id, at(10_000), 3)).toBe(true);
  expect(isFreeId(one, "4", at(10_900), 3)).toBe(false);
  expect(isFreeId(one, "4", at(11_000), 3)).toBe(true);
  expect(isFreeId(one, "2", at(10_000), 3)).toBe(false);
});

test("the only gateway of a log leaves ids unchanged; each of several appends its name", () => {
  const mintId = (): string => "minted";
  const shared = { ...log(), writer: "0a1b2c3d" };
  expect(claimId(log(), "evt_1", at(10_000), mintId)).toBe("evt_1");
  expect(claimId(shared, "evt_1", at(10_000), mintId)).toBe("evt_1~0a1b2c3d");
  expect(claimId(shared, "evt_1", at(10_000), mintId)).toBe("minted");
  expect(claimId(shared, "x".repeat(504), at(10_000), mintId)).toBe("minted");
});
