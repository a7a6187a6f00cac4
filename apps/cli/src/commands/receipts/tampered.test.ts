import {
  copyFile,
  cp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { createSigner } from "@countersign/core/sign";
import { openKey } from "@countersign/gateway";
import { EMPTY_ROOT, signCheckpoint } from "@countersign/receipts";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSampleGateway } from "./testing/sample-gateway.js";
import type { SampleGateway } from "./testing/sample-gateway.js";

let gateway: SampleGateway;
/** Every file of the log. The index is made of them, and `foreign.sqlite` holds receipts of other programs. */
let files: { readonly name: string; readonly size: number }[];
beforeAll(async () => {
  gateway = createSampleGateway();
  await gateway.run("keys", "new");
  await gateway.append(0, 300);
  await gateway.run("receipts", "export", gateway.path("export"));
  await copyFile(gateway.path("export/checkpoint"), gateway.path("keys/last-checkpoint"));
  const store = gateway.path("store");
  const all = await readdir(store, { recursive: true, withFileTypes: true });
  const found = all
    .filter((file) => file.isFile() && !/\.sqlite|lock|\.pid/u.test(file.name))
    .map((file) => join(file.parentPath, file.name).slice(store.length + 1));
  files = await Promise.all(
    found.map(async (name) => ({ name, size: (await stat(join(store, name))).size })),
  );
}, 30_000);
afterAll(() => gateway.remove());

let copies = 0;
/** Verifies a copy of the store to which something was done. */
async function verifyChanged(change: (store: string) => Promise<unknown>) {
  copies += 1;
  const store = gateway.path(`copy-${copies}`);
  await cp(gateway.path("store"), store, {
    recursive: true,
    filter: (file) => !file.includes("index.sqlite"),
  });
  await change(store);
  const answer = await gateway.run("receipts", "verify", store);
  await rm(store, { recursive: true, force: true });
  return answer;
}

test("an unchanged copy is valid", async () => {
  expect(files.map(({ name }) => name)).not.toEqual([]);
  expect(await verifyChanged(async () => {})).toMatchObject({ code: 0 });
});

test("whatever byte of a live store is changed, verify answers no", async () => {
  const place = fc.record({
    file: fc.nat(),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    bit: fc.nat(7),
  });
  await fc.assert(
    fc.asyncProperty(place, async ({ file, at, bit }) => {
      const { name, size } = files[file % files.length] ?? { name: "", size: 0 };
      fc.pre(size > 0);
      const offset = Math.min(Math.floor(at * size), size - 1);
      const { code, out } = await verifyChanged(async (store) => {
        const bytes = await readFile(join(store, name));
        bytes[offset] = (bytes[offset] ?? 0) ^ (1 << bit);
        await writeFile(join(store, name), bytes);
      });
      expect([name, offset, bit, code, out.split("\n").at(-2)]).toEqual([
        name,
        offset,
        bit,
        1,
        expect.stringContaining("not valid"),
      ]);
    }),
    { numRuns: 60 },
  );
}, 120_000);

test("a live store of which a file is missing, empty or cut short is not valid", async () => {
  const answers: string[] = [];
  for (const { name, size } of files) {
    for (const [how, change] of Object.entries({
      missing: (file: string) => rm(file),
      empty: (file: string) => truncate(file, 0),
      short: (file: string) => truncate(file, Math.floor(size / 2)),
    })) {
      const { code, out } = await verifyChanged((store) => change(join(store, name)));
      if (code !== 1) answers.push(`${name} ${how}: ${code} ${out.trim().split("\n").at(-1)}`);
    }
  }
  for (const gone of ["segments", "hashes"]) {
    const { code } = await verifyChanged((store) => rm(join(store, gone), { recursive: true }));
    if (code !== 1) answers.push(`${gone}: ${code}`);
  }
  expect(answers).toEqual([]);
}, 120_000);

test("a log goes on from the checkpoint of the empty log that a first start keeps", async () => {
  const key = await openKey(gateway.path("keys"), "checkpoint");
  const empty = { origin: "countersign.local/log", size: 0, root: EMPTY_ROOT };
  await writeFile(gateway.path("empty"), await signCheckpoint(empty, createSigner(key)));
  const { code, out } = await gateway.run("receipts", "verify", "--older", gateway.path("empty"));
  expect([code, out]).toEqual([0, expect.stringContaining("grown from 0 to 300 entries")]);
});

test("a live store that is gone is not valid beside the checkpoint that was kept, and cannot be checked without one", async () => {
  const [store, aside] = [gateway.path("store"), gateway.path("aside")];
  const kept = gateway.path("keys/last-checkpoint");
  await rename(store, aside);
  try {
    expect(await gateway.run("receipts", "verify")).toMatchObject({ code: 1 });
    await rename(kept, `${kept}.aside`);
    expect(await gateway.run("receipts", "verify")).toMatchObject({ code: 2 });
    await rename(`${kept}.aside`, kept);
  } finally {
    await rename(aside, store);
  }
  expect(await gateway.run("receipts", "verify")).toMatchObject({ code: 0 });
});
