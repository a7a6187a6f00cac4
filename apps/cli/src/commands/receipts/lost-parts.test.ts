import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, startGateway } from "@countersign/gateway";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runVerb, sampleDraft } from "./testing/sample-gateway.js";
import type { CommandResult } from "./testing/sample-gateway.js";

// The files of real gateways, at moments at which one can be killed.
const MOMENTS = ["fresh", "begun", "killed", "closed"] as const;
type Moment = (typeof MOMENTS)[number];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-lost-"));
  const file = join(folder, "countersign.yaml");
  const text =
    "agents:\n  a:\n    url: http://127.0.0.1:1/\nlisten: { port: 0 }\ncontrol: { port: 0 }\n";
  const config = loadConfig(text, { file, environment: {} });
  const keep = (moment: Moment): Promise<void> =>
    cp(join(folder, ".countersign"), join(folder, moment), {
      recursive: true,
      filter: (source) => !/index\.sqlite|foreign\.sqlite|lock/u.test(source),
    });
  const running = await startGateway(config);
  const { log } = running.receipts;
  const append = (from: number, to: number): Promise<unknown> =>
    log.appendAll(Array.from({ length: to - from }, (_, index) => sampleDraft(from + index)));
  await keep("fresh");
  await append(0, 3);
  await keep("begun");
  await append(3, 280);
  await log.checkpoint();
  await append(280, 290);
  await keep("killed");
  await running.close();
  await keep("closed");
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const verify = (directory: string, ...more: string[]): Promise<CommandResult> =>
  runVerb([
    "receipts",
    "verify",
    "--store",
    `sqlite:${join(directory, "receipts")}`,
    "--keys",
    join(directory, "keys"),
    ...more,
  ]);

/** The output of verify for a modified copy. */
async function verifyChanged(
  moment: Moment,
  change: (directory: string) => Promise<unknown>,
): Promise<CommandResult> {
  const copy = await mkdtemp(join(folder, "copy-"));
  await cp(join(folder, moment), copy, { recursive: true });
  await change(copy);
  const answer = await verify(copy);
  await rm(copy, { recursive: true, force: true });
  return answer;
}

/** Files that prove the log. Ledger and policy history prove nothing about it: only the loss of the ledger is reported. */
async function filesOf(moment: Moment): Promise<string[]> {
  const directory = join(folder, moment);
  const all = await readdir(directory, { recursive: true, withFileTypes: true });
  return all
    .filter((file) => file.isFile() && !/\.pem$|\.sha256$|sqlite|^policy-history/u.test(file.name))
    .map((file) => join(file.parentPath, file.name).slice(directory.length + 1))
    .sort();
}

test.each(MOMENTS)("the files of a gateway that is %s are valid", async (moment) => {
  expect(await verify(join(folder, moment))).toMatchObject({ code: 0 });
});

const CHANGES = {
  removed: (file: string) => rm(file, { force: true }),
  emptied: (file: string) => truncate(file, 0),
  async cut(file: string, at: number) {
    await truncate(file, Math.floor(at * (await stat(file)).size));
  },
  async flipped(file: string, at: number, bit: number) {
    const bytes = await readFile(file);
    const offset = Math.floor(at * bytes.length);
    bytes[offset] = (bytes[offset] ?? 0) ^ (1 << bit);
    await writeFile(file, bytes);
  },
} satisfies Record<string, (file: string, at: number, bit: number) => Promise<unknown>>;
const HOW = Object.keys(CHANGES) as (keyof typeof CHANGES)[];

// A segment's commit record: this mark, size and root, then the seal of the tree.
const COMMIT_MARK = Buffer.from([0, 0, 0x43, 2]);
const SEAL_FROM = 44;
const SEAL_TO = 76;

/** The bytes of a file that prove something: the checkpoint covers the entries without their seals, and lines are trimmed. */
function proofOf(file: string, bytes: Buffer): string {
  if (!file.endsWith(".log")) return bytes.toString("latin1").trim();
  const rest = Buffer.from(bytes);
  for (let at = rest.indexOf(COMMIT_MARK); at !== -1; at = rest.indexOf(COMMIT_MARK, at + 1)) {
    rest.subarray(at + SEAL_FROM, at + SEAL_TO).fill(0);
  }
  return rest.toString("latin1");
}

const readProof = async (file: string): Promise<string> =>
  proofOf(file, await readFile(file).catch(() => Buffer.alloc(0)));

const at = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const act = fc.record({ file: fc.nat(), how: fc.constantFrom(...HOW), at, bit: fc.nat(7) });

test("whatever file of a store or its keys is changed, and whatever pair, verify answers no", async () => {
  const files = await filesOf("closed");
  expect(files).toEqual(
    expect.arrayContaining(["keys/keys.jsonl", "keys/last-checkpoint", "receipts/checkpoint"]),
  );
  const acts = fc.uniqueArray(act, {
    minLength: 1,
    maxLength: 2,
    selector: ({ file }) => file % files.length,
  });
  await fc.assert(
    fc.asyncProperty(acts, async (chosen) => {
      let isProofChanged = false;
      const { code, out } = await verifyChanged("closed", async (directory) => {
        for (const { file, how, at, bit } of chosen) {
          const path = join(directory, files[file % files.length] ?? "");
          const before = await readProof(path);
          await CHANGES[how](path, at, bit);
          isProofChanged ||= before !== (await readProof(path));
        }
      });
      fc.pre(isProofChanged);
      const names = chosen.map(({ file }) => files[file % files.length]);
      expect([names, code, out.split("\n").at(-2)]).toEqual([
        names,
        1,
        expect.stringContaining("not valid"),
      ]);
    }),
    { numRuns: 60 },
  );
}, 180_000);

test("a changed seal of entries that the checkpoint covers leaves them valid", async () => {
  const answer = await verifyChanged("closed", async (directory) => {
    const file = join(directory, "receipts/segments/0000000000000000.log");
    const bytes = await readFile(file);
    const before = proofOf(file, bytes);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    expect(proofOf(file, bytes)).toBe(before);
    await writeFile(file, bytes);
  });
  expect(answer).toMatchObject({ code: 0 });
});

test("whatever pair of files is removed, verify answers no, and says what to do about a missing one", async () => {
  const files = [...(await filesOf("closed")), "receipts/ledger/ledger.sqlite"];
  const answers: unknown[] = [];
  for (const [index, one] of files.entries()) {
    for (const other of files.slice(index)) {
      const { code, out } = await verifyChanged("closed", async (directory) => {
        for (const file of [one, other]) await rm(join(directory, file), { force: true });
      });
      const told = one !== other || /segments|hashes/u.test(one) || /Fix: /u.test(out);
      if (code !== 1 || !told) answers.push([one, other, code, out]);
    }
  }
  expect(answers).toEqual([]);
}, 180_000);

test("a folder that is gone is not valid; where everything is gone, nothing can be checked", async () => {
  for (const gone of [
    "keys",
    "receipts",
    "receipts/segments",
    "receipts/hashes",
    "receipts/ledger",
  ]) {
    const remove = (directory: string): Promise<void> =>
      rm(join(directory, gone), { recursive: true });
    expect([gone, await verifyChanged("closed", remove)]).toEqual([
      gone,
      expect.objectContaining({ code: 1 }),
    ]);
  }
  const nothing = join(folder, "nothing");
  await mkdir(join(nothing, "receipts"), { recursive: true });
  expect(await verify(nothing)).toMatchObject({ code: 2 });
});

test("before the first checkpoint too, a log that lost what proves it is not valid", async () => {
  for (const file of ["keys/last-checkpoint", "keys/keys.jsonl", "receipts/keys.jsonl"]) {
    const remove = (directory: string): Promise<void> => rm(join(directory, file));
    expect([file, (await verifyChanged("begun", remove)).code]).toEqual([file, 1]);
  }
});

test("whatever byte behind the last checkpoint is changed or added, verify answers no", async () => {
  const segment = "receipts/segments/0000000000000000.log";
  const { position } = JSON.parse(await readFile(join(folder, "killed/receipts/sealed"), "utf8"));
  await fc.assert(
    fc.asyncProperty(at, fc.nat(7), async (at, bit) => {
      const { code } = await verifyChanged("killed", async (directory) => {
        const bytes = await readFile(join(directory, segment));
        const offset = position + Math.floor(at * (bytes.length - position));
        bytes[offset] = (bytes[offset] ?? 0) ^ (1 << bit);
        await writeFile(join(directory, segment), bytes);
      });
      expect(code).toBe(1);
    }),
    { numRuns: 15 },
  );
}, 120_000);

test("a checkpoint that the operator kept stands in for the one beside the keys", async () => {
  const older = join(folder, "closed/receipts/checkpoint");
  const copy = await mkdtemp(join(folder, "copy-"));
  await cp(join(folder, "closed"), copy, { recursive: true });
  await rm(join(copy, "keys/last-checkpoint"));
  expect(await verify(copy)).toMatchObject({ code: 1 });
  expect(await verify(copy, "--older", older)).toMatchObject({ code: 0 });
});
