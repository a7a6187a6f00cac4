import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSampleGateway } from "./testing/sample-gateway.js";
import type { SampleGateway } from "./testing/sample-gateway.js";

let gateway: SampleGateway;
beforeEach(async () => {
  gateway = createSampleGateway();
  await gateway.run("keys", "new");
  await gateway.append(0, 5);
});
afterEach(() => gateway.remove());

const pipe = (name: string): void => {
  rmSync(gateway.path(name), { force: true });
  execFileSync("mkfifo", [gateway.path(name)]);
};

test.each([
  ["a pipe for its segment", () => pipe("store/segments/0000000000000000.log")],
  ["a pipe for its checkpoint", () => pipe("store/checkpoint")],
  ["a pipe for where it was sealed", () => pipe("store/sealed")],
  ["a pipe for its index", () => pipe("store/index.sqlite")],
  [
    "a device for its checkpoint",
    () => {
      rmSync(gateway.path("store/checkpoint"));
      symlinkSync("/dev/zero", gateway.path("store/checkpoint"));
    },
  ],
  [
    "links to itself for segments",
    () => {
      rmSync(gateway.path("store/segments"), { recursive: true });
      mkdirSync(gateway.path("store/segments"));
      symlinkSync("0000000000000000.log", gateway.path("store/segments/0000000000000000.log"));
    },
  ],
])("a store with %s is answered, not waited for", async (_, act) => {
  act();
  const { code, out } = await gateway.run("receipts", "verify");
  expect([0, 1]).toContain(code);
  expect(out).not.toBe("");
});

test("a pipe in the place of receipts is refused, not waited for", async () => {
  pipe("receipts.jsonl");
  const { code, out } = await gateway.run("receipts", "verify", gateway.path("receipts.jsonl"));
  expect([code, out]).toEqual([2, expect.stringContaining("is not a file")]);
  pipe("receipt.json");
  const one = await gateway.run("receipts", "verify", gateway.path("receipt.json"));
  expect([one.code, one.out]).toEqual([2, expect.stringContaining("is not a regular file")]);
});
