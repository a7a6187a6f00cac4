import { copyFile, cp, rm, symlink, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSampleGateway } from "./testing/sample-gateway.js";
import type { SampleGateway } from "./testing/sample-gateway.js";

let gateway: SampleGateway;
beforeAll(async () => {
  gateway = createSampleGateway();
  await gateway.run("keys", "new");
  await gateway.append(0, 10);
  await gateway.run("receipts", "export", gateway.path("first"));
  // Without the index, which is made again: its files come and go.
  const filter = (file: string): boolean => !file.includes("index.sqlite");
  await cp(gateway.path("store"), gateway.path("cut"), { recursive: true, filter });
  await gateway.append(10, 300);
  await gateway.run("receipts", "export", gateway.path("second"));
  await copyFile(gateway.path("second/checkpoint"), gateway.path("keys/last-checkpoint"));
});
afterAll(() => gateway.remove());

const verify = (...args: string[]): ReturnType<SampleGateway["run"]> =>
  gateway.run("receipts", "verify", ...args);

test("a store that lost its end is not valid beside the keys that signed for it", async () => {
  const whole = await verify();
  expect(whole).toMatchObject({ code: 0 });
  expect(whole.out).toContain("grown from 300 to 300 entries");
  const cut = await verify(gateway.path("cut"));
  expect(cut).toMatchObject({ code: 1 });
  expect(cut.out).toMatch(/FAILED +The log only grew since the older checkpoint/u);
});

test("an export is held against a checkpoint that was kept", async () => {
  const grown = await verify(gateway.path("second"), "--older", gateway.path("first/checkpoint"));
  expect(grown).toMatchObject({ code: 0 });
  expect(grown.out).toContain("grown from 10 to 300 entries");
  const lost = await verify(gateway.path("first"), "--older", gateway.path("second/checkpoint"));
  expect(lost).toMatchObject({ code: 1 });
  expect(lost.out).toContain("the older one has 300 entries, this one 10: the log was rolled back");
});

test("a text that is not a checkpoint of the log proves nothing", async () => {
  await writeFile(gateway.path("no-checkpoint"), "something else\n");
  const { code, out } = await verify(
    gateway.path("second"),
    "--older",
    gateway.path("no-checkpoint"),
  );
  expect(code).toBe(1);
  expect(out).toMatch(/FAILED +The log only grew/u);
});

test("an export whose files have no end is not read for ever", async () => {
  await cp(gateway.path("second"), gateway.path("endless"), { recursive: true });
  await rm(gateway.path("endless/checkpoint"));
  await symlink("/dev/zero", gateway.path("endless/checkpoint"));
  const { code } = await verify(
    gateway.path("endless"),
    "--older",
    gateway.path("first/checkpoint"),
  );
  expect(code).not.toBe(0);
});
