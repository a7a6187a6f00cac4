import { afterEach, expect, test } from "vitest";
import { listenToHangups } from "./hangups.js";

const before = process.listeners("SIGHUP");
afterEach(() => {
  for (const listener of process.listeners("SIGHUP")) {
    if (!before.includes(listener)) process.off("SIGHUP", listener);
  }
});

test("early hangups are kept, as one, until a listener follows", () => {
  const hangups = listenToHangups();
  let calls = 0;
  process.emit("SIGHUP");
  process.emit("SIGHUP");
  hangups.follow(() => (calls += 1));
  expect(calls).toBe(1);
  process.emit("SIGHUP");
  expect(calls).toBe(2);
});

test("without an early hangup, following alone does nothing", () => {
  let calls = 0;
  listenToHangups().follow(() => (calls += 1));
  expect(calls).toBe(0);
});
