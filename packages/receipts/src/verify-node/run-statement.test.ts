import { expect, test } from "vitest";
import { keyThumbprintHex } from "../cose/cose-key.js";
import { decodeEnvelope, encodeEnvelope, signEnvelope } from "../dsse/envelope.js";
import type { RunStatement } from "../dsse/run-statement.js";
import {
  decodeRunStatement,
  encodeRunStatement,
  IN_TOTO_PAYLOAD_TYPE,
} from "../dsse/run-statement.js";
import { signRunStatement } from "../export/run-statement.js";
import { numbered, statementSource } from "../testing/sample-statements.js";
import {
  memoryReader,
  SAMPLE_ORIGIN,
  sampleFiles,
  sampleLog,
  sampleSigner,
} from "../testing/sample-log.js";
import type { SampleLog } from "../testing/sample-log.js";
import { readExportEntries, readExportRoot } from "../verify/read-export.js";
import type { RunLog } from "./run-statement.js";
import { verifyRunStatement } from "./run-statement.js";

const RUN = { run_id: "run_1", thread_id: "thread_1" };
const [log, longer] = await Promise.all([sampleLog(300), sampleLog(700)]);
const signer = sampleSigner(9);
const trustedLogs = [log.vkey];
const signed = await signRunStatement(statementSource(log), RUN, numbered(log));
const envelope = signed?.envelope ?? "";
const statement = decodeRunStatement(decodeEnvelope(envelope).payload);

function logOf(sample: SampleLog, more: Partial<RunLog> = {}): RunLog {
  const reader = memoryReader(sampleFiles(sample));
  const size = sample.entries.length;
  return {
    origin: SAMPLE_ORIGIN,
    size,
    first: 0,
    root: (older) => readExportRoot(reader, older, size),
    entries: () => readExportEntries(reader, 0, size),
    ...more,
  };
}
const failures = async (text: string, against?: RunLog): Promise<string[]> => {
  const options = { trustedLogs, ...(against && { log: against }) };
  const { checks } = await verifyRunStatement(text, options);
  return checks.flatMap(({ id, status }) => (status === "failed" ? [id] : []));
};
/** A statement that the log's key signs, whatever it says. */
const sign = (change: Partial<RunStatement>): Promise<string> =>
  signEnvelope(
    IN_TOTO_PAYLOAD_TYPE,
    encodeRunStatement({ ...statement, ...change }),
    keyThumbprintHex(signer.publicKey),
    signer,
  );

test("a statement verifies alone, in its log, and in the log after it grew", async () => {
  expect(await verifyRunStatement(envelope, { trustedLogs })).toMatchObject({
    valid: true,
    signerTrusted: true,
  });
  expect(await failures(envelope, logOf(log))).toEqual([]);
  expect(await failures(envelope, logOf(longer))).toEqual([]);
  expect(statement).toMatchObject({
    entries: { count: 300, first: 0, last: 299 },
    tree: { size: 300 },
  });
});

test("each character of the envelope counts", async () => {
  for (let at = 0; at < envelope.length; at += 1) {
    const bad = `${envelope.slice(0, at)}${envelope[at] === "A" ? "B" : "A"}${envelope.slice(at + 1)}`;
    expect([at, (await failures(bad)).length]).toEqual([at, 1]);
  }
});

test.each<[string, (text: string) => string]>([
  ["an envelope with spaces", (text) => JSON.stringify(JSON.parse(text), undefined, 1)],
  ["a second signature", (text) => text.replace(/\[(\{.*\})\]/u, "[$1,$1]")],
  ["no signature", (text) => text.replace(/\[\{.*\}\]/u, "[]")],
  ["a further member", (text) => text.replace(/\}$/u, ',"x":1}')],
  ["another payload type", (text) => text.replace("in-toto+json", "other+json")],
  ["a cut envelope", (text) => text.slice(0, -1)],
  ["no envelope", () => "{}"],
  ["no JSON", () => "\u0000"],
  [
    "a payload with a further member",
    (text) => {
      const read = decodeEnvelope(text);
      const json = Buffer.from(read.payload).toString().replace(/\}$/u, ',"x":1}');
      return encodeEnvelope({ ...read, payload: Buffer.from(json) });
    },
  ],
])("%s is refused", async (_, change) => {
  expect(await failures(change(envelope))).toHaveLength(1);
});

test("what the log's key signed, but the log does not have, is refused against the log", async () => {
  const { decisions, entries, tree } = statement;
  const cases: readonly [Partial<RunStatement>, string[]][] = [
    [{ transcript: "0".repeat(64) }, ["run-transcript"]],
    [{ decisions: { ...decisions, blocked: 0 } }, ["run-entries"]],
    [{ entries: { ...entries, count: 299 } }, ["run-entries"]],
    [{ policies: ["other"] }, ["run-entries"]],
    [{ tree: { ...tree, root: "0".repeat(64) } }, ["run-tree"]],
    [{ tree: { ...tree, size: 299 } }, ["run-tree", "run-entries", "run-transcript"]],
    [{ tree: { ...tree, size: 301 } }, ["run-tree"]],
    [{ tree: { ...tree, first: 1 } }, ["run-entries", "run-transcript"]],
    [{ run: { ...RUN, run_id: "other" } }, ["run-entries"]],
    [{ run: { run_id: RUN.run_id } }, ["run-entries"]],
  ];
  for (const [change, expected] of cases) {
    const text = await sign(change);
    expect(await failures(text)).toEqual([]);
    expect([change, await failures(text, logOf(log))]).toEqual([change, expected]);
  }
});

test("a log that lacks an entry of the run, or has other entries, is refused", async () => {
  const without = (): Uint8Array[] => log.entries.filter((_, seq) => seq !== 100);
  expect(await failures(envelope, logOf(log, { entries: without }))).toEqual([
    "run-entries",
    "run-transcript",
  ]);
  expect(await failures(envelope, logOf(log, { entries: () => [] }))).toEqual(["run-entries"]);
  expect(await failures(envelope, logOf(log, { first: 256 }))).toEqual(["run-entries"]);
  const some = await signRunStatement({ ...statementSource(log), first: 256 }, RUN, numbered(log));
  expect(await failures(some?.envelope ?? "", logOf(log, { first: 256 }))).toEqual([]);
  expect(await failures(some?.envelope ?? "", logOf(log))).toEqual([]);
  expect(await failures(envelope, logOf(log, { origin: "other" }))).toEqual(["run-tree"]);
  const rotated = await sampleLog(300, { rotateAt: 4 });
  expect(await failures(envelope, logOf(rotated))).toEqual(["run-tree", "run-transcript"]);
});

test("another key is refused, also one of the same log that was not given", async () => {
  const other = await signEnvelope(
    IN_TOTO_PAYLOAD_TYPE,
    encodeRunStatement(statement),
    keyThumbprintHex(sampleSigner(8).publicKey),
    sampleSigner(8),
  );
  expect(await failures(other)).toEqual(["run-signature"]);
  expect(await failures(await sign({ log: "other" }))).toEqual(["run-signature"]);
  const untrusted = await verifyRunStatement(envelope, { presentedLog: log.vkey });
  expect(untrusted).toMatchObject({ valid: true, signerTrusted: null });
});
