import { createFakeClock } from "@countersign/testkit";
import { expect, test, vi } from "vitest";
import { createAccess, OPEN_ACCESS, ANONYMOUS } from "./access.js";
import type { Grant } from "./access.js";
import { FailedAttempts } from "./failed-attempts.js";
import { createOpenGrants } from "./open-grants.js";
import { RunSlots } from "../runs/run-slots.js";

const grant = (id: string, isValid: () => boolean = () => true): Grant => ({
  principal: { id },
  isValid,
});

test("runs of a principal are accepted up to the limit, rejected above it, and a released slot counts once", () => {
  const slots = new RunSlots(2);
  const first = slots.take({ id: "a" });
  slots.take({ id: "a" });
  expect(() => slots.take({ id: "a" })).toThrow(/too many open runs/);
  slots.take({ id: "b" });
  first();
  first();
  slots.take({ id: "a" });
  expect(() => slots.take({ id: "a" })).toThrow(/too many open runs/);
  for (let index = 0; index < 10; index++) slots.take(ANONYMOUS);
});

test("an open grant ends once when its grant becomes invalid, and a removed one is forgotten", async () => {
  const openGrants = createOpenGrants(5);
  let good = true;
  const ended: string[] = [];
  const open = (id: string) => {
    const one = { grant: grant(id, () => good), end: () => void ended.push(id) };
    openGrants.add(one);
    return one;
  };
  open("a");
  openGrants.remove(open("b"));
  expect(openGrants.size).toBe(1);
  good = false;
  await vi.waitFor(() => expect(ended).toEqual(["a"]));
  expect(openGrants.size).toBe(0);
  openGrants.stop();
});

test("an open grant ends when its grant cannot be checked, and one that fails to end does not keep others open", async () => {
  const openGrants = createOpenGrants(5);
  const fail = (): never => {
    throw new Error("EIO");
  };
  const ended: string[] = [];
  openGrants.add({ grant: grant("a", fail), end: fail });
  openGrants.add({ grant: grant("b", fail), end: () => void ended.push("b") });
  openGrants.add({ grant: grant("c"), end: () => void ended.push("c") });
  await vi.waitFor(() => expect(ended).toEqual(["b"]));
  expect(openGrants.size).toBe(1);
  openGrants.stop();
});

test("failed attempts are limited per minute", () => {
  const clock = createFakeClock();
  const tries = new FailedAttempts(clock, 2);
  expect([tries.isTooMany(), tries.isTooMany(), tries.isTooMany()]).toEqual([false, false, true]);
  clock.advance(60_000);
  expect(tries.isTooMany()).toBe(false);
});

test("where anonymous is allowed, a bad credential is still refused", async () => {
  const access = createAccess([], { allowAnonymous: true });
  expect((await access.authenticate(undefined)).principal).toBe(ANONYMOUS);
  await expect(access.authenticate("x")).rejects.toMatchObject({ code: "ERR_ACCESS_TOKEN" });
  expect((await OPEN_ACCESS.authenticate("x")).principal).toBe(ANONYMOUS);
});
