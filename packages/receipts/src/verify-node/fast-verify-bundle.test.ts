import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { parseKeyHistory } from "../keys/history.js";
import type { KeyPeriod } from "../keys/verify-history.js";
import { keyPeriods } from "../keys/verify-history.js";
import { encodeEntryText } from "../entry/encode-entry.js";
import { buildBatch } from "../receipt/build-batch.js";
import { receiptBody } from "../receipt/encode-receipt.js";
import type { AgUiReceiptBody } from "../receipt/receipt.js";
import {
  memoryReader,
  sampleBody,
  sampleLog,
  sampleSigner,
  treeFiles,
} from "../testing/sample-log.js";
import type { BundleReport } from "../verify/bundle.js";
import { verifyBundle } from "../verify/bundle.js";
import { createReceiptSignatures } from "../verify/signature.js";
import { loadFastVerifier } from "./ed25519.js";
import { fastVerifyBundle } from "./fast-verify-bundle.js";

const WIDTH = 40;
const directory = mkdtempSync(join(tmpdir(), "countersign-sound-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const check = await loadFastVerifier();
const signatures = createReceiptSignatures(check);
// Batches that end with the bundle, that continue after it, that hold one receipt, and none at all.
const logs = await Promise.all(
  [0, 1, 5, 8, 32].map((batch) => sampleLog(WIDTH + 8, { rotateAt: 29, batch })),
);

function receiptOf(entry: string): string {
  const start = entry.indexOf(',"receipt":') + ',"receipt":'.length;
  return entry.slice(start, entry.indexOf(',"received_at":', start));
}

type Reports = { quick: BundleReport | undefined; slow: BundleReport };

/** Both verifications of a bundle of these entries, with a matching tile and lines. */
async function lookTwice(
  entries: readonly string[],
  periods: ReadonlyMap<string, KeyPeriod>,
): Promise<Reports> {
  const bytes = entries.map((entry) => Buffer.from(entry, "latin1"));
  const files = treeFiles(bytes);
  for (const [path, content] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  const lines = Buffer.from(entries.map((entry) => `${receiptOf(entry)}\n`).join(""), "latin1");
  const context = { reader: memoryReader(files), signatures, periods };
  return {
    quick: fastVerifyBundle(0, entries.length, { directory, check, periods }, lines),
    slow: await verifyBundle(0, entries.length, context, lines),
  };
}

function comparable({ tallies, ...rest }: BundleReport): unknown {
  const leaves = rest.leaves?.map((leaf) => Buffer.from(leaf).toString("hex"));
  return { ...rest, leaves, tallies: tallies.toSorted((a, b) => a.id.localeCompare(b.id)) };
}

function isSound({ tallies }: BundleReport): boolean {
  return tallies.every(({ failed }) => failed === 0);
}

const periodsOf = (log: (typeof logs)[number]): ReadonlyMap<string, KeyPeriod> =>
  keyPeriods(parseKeyHistory(log.keys));
const textsOf = (log: (typeof logs)[number]): string[] =>
  log.entries.slice(0, WIDTH).map((entry) => Buffer.from(entry).toString("latin1"));

test("the fast verifier accepts every kind of signature and reports what the general one reports", async () => {
  for (const log of logs) {
    const { quick, slow } = await lookTwice(textsOf(log), periodsOf(log));
    expect(isSound(slow)).toBe(true);
    expect(quick && comparable(quick)).toEqual(comparable(slow));
  }
});

const member = (name: string): RegExp => new RegExp(`"${name}":("[^"]*"|\\d+|true|false)`);
const MEMBERS = [
  "signature",
  "kernel_key",
  "payload_hash",
  "event_id",
  "seq",
  "timestamp",
  "allowed",
];

/** Each takes the entries, two indexes and a number, and damages or rearranges them. */
const damages: ((entries: string[], a: number, b: number, number: number) => void)[] = [
  function flipBit(entries, a, _, number) {
    const bytes = Buffer.from(entries[a]!, "latin1");
    bytes[(number >> 3) % bytes.length]! ^= 1 << (number & 7);
    entries[a] = bytes.toString("latin1");
  },
  function swapEntries(entries, a, b) {
    [entries[a], entries[b]] = [entries[b]!, entries[a]!];
  },
  function copyMember(entries, a, b, number) {
    const pattern = member(MEMBERS[number % MEMBERS.length]!);
    const value = pattern.exec(entries[b]!)![0];
    entries[a] = entries[a]!.replace(pattern, () => value);
  },
  function copyReceipt(entries, a, b) {
    entries[a] = entries[a]!.replace(receiptOf(entries[a]!), () => receiptOf(entries[b]!));
  },
  function blockAnAllowedOne(entries, a) {
    entries[a] = entries[a]!.replace('"allowed":true', '"allowed":false').replace(
      '"event_id"',
      '"denial_reason":"no","event_id"',
    );
  },
  function moveInGroup(entries, a, _, number) {
    entries[a] = entries[a]!.replace(/batch:\d+/, `batch:${number % 40}`);
  },
  function changeGroupSize(entries, a, _, number) {
    entries[a] = entries[a]!.replace(/(batch:\d+)\/\d+/, `$1/${number % 70_000}`);
  },
  function cutPath(entries, a, _, number) {
    const cut = number % 3 === 0 ? 43 : number % 50;
    entries[a] = entries[a]!.replace(
      new RegExp(`(batch:[^"]*)[\\w-]{${cut}}"`),
      (_whole, kept: string) => `${kept}"`,
    );
  },
  function lengthenPath(entries, a, b) {
    entries[a] = entries[a]!.replace(/(batch:[^"]*)"/, `$1${"A".repeat(43 * (1 + (b % 2)))}"`);
  },
  function changePath(entries, a, _, number) {
    entries[a] = entries[a]!.replace(/(batch:[^"]*)([\w-])"/, (_whole, kept: string) => {
      return `${kept}${String.fromCharCode(65 + (number % 26))}"`;
    });
  },
  function spellInCapitals(entries, a) {
    entries[a] = entries[a]!.replace(/"signature":"(ed25519[^"]*)"/, (whole, text: string) =>
      whole.replace(
        text,
        text.replaceAll(/[a-f]/g, (digit) => digit.toUpperCase()),
      ),
    );
  },
  function dropPrefix(entries, a) {
    entries[a] = entries[a]!.replace('"signature":"ed25519:', '"signature":"');
  },
  function writeNumberLong(entries, a, _, number) {
    const digits = "9".repeat(14 + (number % 4));
    entries[a] = entries[a]!.replace(member("received_at"), `"received_at":${digits}`);
  },
];

test.each(damages.map((damage) => [damage.name, damage] as const))(
  "when tree and lines match a damaged bundle, the fast verifier accepts nothing that the general one refuses: %s",
  async (_, damage) => {
    const place = fc.integer({ min: 0, max: WIDTH - 1 });
    const log = fc.constantFrom(...logs);
    await fc.assert(
      fc.asyncProperty(log, place, place, fc.nat(), async (chosen, a, b, number) => {
        const entries = textsOf(chosen);
        damage(entries, a, b, number);
        const { quick, slow } = await lookTwice(entries, periodsOf(chosen));
        if (quick === undefined) return;
        expect(isSound(slow)).toBe(true);
        expect(comparable(quick)).toEqual(comparable(slow));
      }),
      { numRuns: 25 },
    );
  },
);

test.each<[string, (bodies: AgUiReceiptBody[]) => void, string]>([
  ["nothing", () => {}, ""],
  [
    "a blocked event",
    (bodies) => (bodies[1] = sampleBody(3, sampleSigner(7))),
    "deny-signed-singly",
  ],
  [
    "a receipt of another key",
    (bodies) => (bodies[1] = sampleBody(1, sampleSigner(8))),
    "receipt-signature",
  ],
])(
  "a group that was signed with %s in it is treated as the general verifier treats it",
  async (_, change, broken) => {
    const signer = sampleSigner(7);
    const bodies = [0, 1, 2].map((index) => sampleBody(index, signer));
    change(bodies);
    const texts = buildBatch(bodies.map(receiptBody), (message) => signer.sign(message));
    const entries = bodies.map((body, seq) =>
      encodeEntryText({
        seq,
        receipt: { ...body, signature: texts[seq]! },
        direction: "outbound",
        policy_hash: "",
        mode: "enforce",
        received_at: 0,
      }),
    );
    const always = { first: 0, end: Number.POSITIVE_INFINITY };
    const keys = [7, 8].map((byte) => sampleBody(0, sampleSigner(byte)).kernel_key);
    const { quick, slow } = await lookTwice(entries, new Map(keys.map((key) => [key, always])));
    const failures = slow.tallies.filter(({ failed }) => failed > 0).map(({ id }) => id);
    expect(failures.join()).toBe(broken);
    expect(quick && comparable(quick)).toEqual(broken === "" ? comparable(slow) : undefined);
  },
);
