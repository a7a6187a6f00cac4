import { spawn } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createSigner, generateKey, importPrivateKey } from "@countersign/core/sign";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { signCheckpoint } from "../checkpoint/sign-checkpoint.js";
import { signCosignature } from "../note/sign-cosignature.js";
import { encodeNoteSignature } from "../note/note.js";
import { createNoteKey, encodeVkey, NOTE_COSIGNATURE } from "../note/vkey.js";
import { bundleForNode } from "../testing/bundle.js";
import { withDirectory } from "../testing/directory.js";
import { startWitness } from "../testing/running-witness.js";
import { specConsistency, specCosignatureTimes, specRoot } from "../testing/spec-oracle.js";
import { createWitness } from "./witness.js";
import type { Witness, WitnessOptions, WitnessResponse } from "./witness.js";
import { openFileState } from "./witness-state.js";

const ORIGIN = "log.example/witnessed";
const NAME = "witness.example/w1";
const logSigner = createSigner(importPrivateKey(new Uint8Array(32).fill(3)));
const logKey = createNoteKey(ORIGIN, logSigner.publicKey);
const signer = createSigner(importPrivateKey(new Uint8Array(32).fill(10)));
const vkey = encodeVkey(createNoteKey(NAME, signer.publicKey, NOTE_COSIGNATURE));

/** Two histories that share their first seven entries. */
const TRUNK = Array.from({ length: 24 }, (_, at) => `entry ${at}`);
const FORK = TRUNK.map((entry, at) => (at < 7 ? entry : `other ${at}`));
/** The same for many small steps. */
const LONG = Array.from({ length: 300 }, (_, at) => `entry ${at}`);
const LONG_FORK = ["other", ...LONG.slice(1)];
const HISTORIES = [TRUNK, FORK, LONG, LONG_FORK];

const checkpoints = new Map<string, Promise<string>>();
const checkpointOf = (history: number, size: number): Promise<string> => {
  const id = `${history}/${size}`;
  const root = specRoot((HISTORIES[history] ?? []).slice(0, size));
  const made = checkpoints.get(id) ?? signCheckpoint({ origin: ORIGIN, size, root }, logSigner);
  checkpoints.set(id, made);
  return made;
};
const requestOf = async (old: number, history: number, size: number): Promise<string> => {
  const entries = (HISTORIES[history] ?? []).slice(0, size);
  const proof = old <= size ? specConsistency(old, entries) : [];
  const lines = proof.map((hash) => `${hash.toString("base64")}\n`).join("");
  return `old ${old}\n${lines}\n${await checkpointOf(history, size)}`;
};

function witnessOver(options: Pick<WitnessOptions, "state"> & Partial<WitnessOptions>): Witness {
  return createWitness({ name: NAME, signer, logs: [logKey], perMinute: 1_000_000, ...options });
}

async function withWitness(use: (witness: Witness, directory: string) => Promise<void>) {
  await withDirectory(async (directory) => {
    const state = await openFileState(directory);
    await use(witnessOver({ state }), directory);
    await state.close();
  });
}

test("the published vector of a cosignature is what we sign, and the oracle accepts it", async () => {
  const text = "gw.example.com/log1\n8\nXcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=\n";
  const line = await signCosignature("witness.example.com/w1", text, 1_744_993_930, signer);
  const written = encodeNoteSignature(line);
  expect(written).toBe(
    "— witness.example.com/w1 a+/WcgAAAABoAn6KeER0+GcGaEufpu6gLiJ7G1oqucd2X92Y3lFyFGB6OExFPWDt8kHE+0bG0WQW6PgdzvB06pC+ls4I2lmHHIqvBQ==\n",
  );
  const published = "witness.example.com/w1+6befd672+BEOnLnFEAXYt9mtowm373yaCquyfJHTspGE+QkoPuv08";
  expect(specCosignatureTimes(`${text}\n${written}`, published)).toEqual([1_744_993_930n]);
});

type Step =
  | { kind: "submit"; history: number; size: number; old: "right" | number }
  | { kind: "restart" };

const size = fc.integer({ min: 0, max: TRUNK.length });
const submission = fc.record({
  kind: fc.constant("submit" as const),
  history: fc.constantFrom(0, 0, 1),
  size,
  old: fc.oneof({ weight: 3, arbitrary: fc.constant("right" as const) }, size),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: submission },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
);

type Model = { history: number; size: number } | undefined;

const isSameTree = (one: NonNullable<Model>, other: NonNullable<Model>, upTo: number): boolean =>
  one.history === other.history || upTo <= 7;

/** The status that the specification demands, and the state afterwards. */
function expected(model: Model, old: number, next: NonNullable<Model>): [number, Model] {
  if (old > next.size) return [400, model];
  if (old !== (model?.size ?? 0)) return [409, model];
  if (model === undefined) return [200, next];
  if (isSameTree(model, next, old)) return [200, next];
  return [next.size === old ? 409 : 422, model];
}

test("generated histories with forks, rollbacks, stale sizes and restarts: every status is the specified one, and no two cosigned trees contradict each other", async () => {
  const run = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
    await withDirectory(async (directory) => {
      let state = await openFileState(directory);
      let witness = witnessOver({ state });
      let model: Model;
      for (const one of steps) {
        if (one.kind === "restart") {
          await state.close();
          state = await openFileState(directory);
          witness = witnessOver({ state });
          continue;
        }
        const old = one.old === "right" ? (model?.size ?? 0) : one.old;
        const body = await requestOf(old, one.history, one.size);
        const response = await witness.addCheckpoint(body);
        const before = model?.size ?? 0;
        const [status, after] = expected(model, old, one);
        const named = response.status === 409 ? [response.body, response.type] : [];
        const size409 = status === 409 ? [`${before}\n`, "text/x.tlog.size"] : [];
        expect([one, response.status, named]).toEqual([one, status, size409]);
        model = after;
        if (status !== 200) continue;
        const cosigned = `${await checkpointOf(one.history, one.size)}${response.body}`;
        expect(specCosignatureTimes(cosigned, vkey).length).toBe(1);
      }
      await state.close();
    });
  });
  await fc.assert(run, { numRuns: 60 });
});

test("no change of any byte of a request with a proof makes the witness sign, unless it signs the same tree", async () => {
  await withWitness(async (witness) => {
    await witness.addCheckpoint(await requestOf(0, 0, 11));
    const good = Buffer.from(await requestOf(11, 0, 23));
    const accepted: WitnessResponse[] = [];
    for (let at = 0; at < good.length; at += 1) {
      for (const change of [1, 0x20]) {
        const body = Buffer.from(good);
        body[at] = (body[at] ?? 0) ^ change;
        const response = await witness.addCheckpoint(body.toString("latin1"));
        if (response.status === 200) accepted.push(response);
      }
    }
    expect(accepted).toEqual([]);
    const lines = good.toString().split("\n");
    const proof = lines.slice(1, lines.indexOf(""));
    for (const changed of [
      proof.slice(1),
      proof.slice(0, -1),
      [...proof, proof[0] ?? ""],
      proof.toReversed(),
      [],
    ]) {
      const rest = lines.slice(lines.indexOf(""));
      const body = [lines[0], ...changed, ...rest].join("\n");
      expect((await witness.addCheckpoint(body)).status).toBe(422);
    }
    expect((await witness.addCheckpoint(good.toString())).status).toBe(200);
  });
});

test("of concurrent submissions from one size, the witness signs one chain only", async () => {
  await withWitness(async (witness) => {
    const bodies = await Promise.all(
      Array.from({ length: 40 }, (_, at) => requestOf(0, at % 2, 8 + (at % 16))),
    );
    const responses = await Promise.all(bodies.map((body) => witness.addCheckpoint(body)));
    expect(responses.filter(({ status }) => status === 200).length).toBe(1);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 409]));
  });
});

test("an unknown log, a foreign key, a witness key with the log's name, and too many requests are refused", async () => {
  await withDirectory(async (directory) => {
    const state = await openFileState(directory);
    let now = 1_000_000;
    const witness = witnessOver({ state, perMinute: 2, clock: () => now });
    const foreign = createSigner(generateKey());
    const root = specRoot(TRUNK.slice(0, 3));
    const signed = await signCheckpoint({ origin: ORIGIN, size: 3, root }, foreign);
    expect((await witness.addCheckpoint(`old 0\n\n${signed}`)).status).toBe(403);
    const other = await signCheckpoint({ origin: "other.example", size: 3, root }, logSigner);
    expect((await witness.addCheckpoint(`old 0\n\n${other}`)).status).toBe(404);
    expect((await witness.addCheckpoint("old 00\n\nx")).status).toBe(400);
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      statuses.push((await witness.addCheckpoint(await requestOf(count, 0, count + 1))).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
    now += 30_000;
    expect((await witness.addCheckpoint(await requestOf(2, 0, 3))).status).toBe(200);
    await state.close();
  });
});

test("lines that a stranger repeats in a checkpoint do not stop the witness", async () => {
  await withWitness(async (witness) => {
    const checkpoint = await checkpointOf(0, 5);
    const [text = "", line = ""] = checkpoint.split("\n\n");
    for (const count of [63, 64]) {
      const body = `old 0\n\n${text}\n\n${line.repeat(count)}`;
      const { status } = await witness.addCheckpoint(count === 63 ? body : body.replace("0", "5"));
      expect(status).toBe(200);
    }
    expect((await witness.addCheckpoint(await requestOf(5, 0, 9))).status).toBe(200);
  });
});

test("a stranger who repeats a log's checkpoints does not use up what the log may send", async () => {
  await withDirectory(async (directory) => {
    const state = await openFileState(directory);
    let now = 1_000_000;
    const witness = witnessOver({ state, perMinute: 2, clock: () => now });
    const first = await requestOf(0, 0, 5);
    const again = await requestOf(5, 0, 5);
    const cosigned = await witness.addCheckpoint(first);
    for (let count = 0; count < 100; count += 1) {
      expect((await witness.addCheckpoint(first)).status).toBe(409);
      expect(await witness.addCheckpoint(again)).toEqual(cosigned);
    }
    expect((await witness.addCheckpoint(await requestOf(5, 0, 9))).status).toBe(200);
    now += 60_000;
    await witness.addCheckpoint(await requestOf(9, 0, 9));
    now += 10_000;
    const later = await witness.addCheckpoint(await requestOf(9, 0, 9));
    expect(specCosignatureTimes(`${await checkpointOf(0, 9)}${later.body}`, vkey)).toEqual([1070n]);
    await state.close();
  });
});

test("a damaged state file stops the witness from signing for that log", async () => {
  await withWitness(async (witness, directory) => {
    await witness.addCheckpoint(await requestOf(0, 0, 5));
    const { createHash } = await import("node:crypto");
    const hash = createHash("sha256").update(ORIGIN).digest("hex");
    await writeFile(join(directory, `${hash}.checkpoint`), "");
    await expect(witness.addCheckpoint(await requestOf(0, 1, 9))).rejects.toMatchObject({
      code: "ERR_WITNESS_FILE",
    });
  });
});

test("a body that is too large ends in 400, and a second process on the directory is rejected", async () => {
  await withDirectory(async (directory) => {
    const running = await startWitness({ directory, logs: [logKey] });
    const body = `old 0\n\n${"x".repeat(100_000)}`;
    const response = await fetch(`${running.address.url}add-checkpoint`, { method: "POST", body });
    expect(response.status).toBe(400);
    await expect(openFileState(directory)).rejects.toMatchObject({
      code: "ERR_WITNESS_LOCKED",
      facts: { directory },
    });
    await running.close();
  });
});

test("kill -9 in a loop: the witness never goes back and never signs two trees of one size", async () => {
  const program = await bundleForNode("testing/witness-process.ts");
  await withDirectory(async (directory) => {
    let newest = 1;
    const state = await openFileState(directory);
    const first = witnessOver({ state, name: "witness.example/killed" });
    expect((await first.addCheckpoint(await requestOf(0, 2, newest))).status).toBe(200);
    await state.close();
    for (let round = 0; round < 8; round += 1) {
      const child = spawn(
        process.execPath,
        [fileURLToPath(program), directory, encodeVkey(logKey)],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
      const ended = new Promise((resolve) => child.once("close", resolve));
      const port = await new Promise<number>((resolve) =>
        child.stdout.once("data", (text: Buffer) => resolve(Number(text.toString()))),
      );
      const submit = async (old: number, history: number, to: number) => {
        const body = await requestOf(old, history, to);
        const url = `http://127.0.0.1:${port}/add-checkpoint`;
        const response = await fetch(url, { method: "POST", body });
        return { status: response.status, text: await response.text() };
      };
      // A request from size 0 tells the size: at least what was cosigned before the kill.
      const conflict = await submit(0, 2, LONG.length);
      expect(conflict.status).toBe(409);
      const kept = Number(conflict.text);
      expect([newest, newest + 1]).toContain(kept);
      newest = kept;
      expect((await submit(newest, 3, newest)).status).toBe(409);
      expect((await submit(newest, 3, newest + 1)).status).toBe(422);
      expect((await submit(newest - 1, 2, newest)).status).toBe(409);
      expect((await submit(newest, 2, newest)).status).toBe(200);
      const before = newest;
      let isKilled = false;
      const kill = async (): Promise<void> => {
        while (newest < before + 3) await wait(1);
        await wait(round * 3);
        isKilled = child.kill("SIGKILL");
      };
      const killing = kill();
      try {
        for (;;) {
          const { status } = await submit(newest, 2, newest + 1);
          expect(status).toBe(200);
          newest += 1;
        }
      } catch (error) {
        // Only the kill may end the requests.
        if (!isKilled) throw error;
      }
      await killing;
      await ended;
    }
    expect(newest).toBeGreaterThan(20);
  });
  await rm(program);
});
