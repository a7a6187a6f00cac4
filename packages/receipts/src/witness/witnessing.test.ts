import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createSigner } from "@countersign/core/sign";
import { expect, test } from "vitest";
import { decodeAttestations } from "../checkpoint/attestations.js";
import { parseCheckpoint } from "../checkpoint/checkpoint.js";
import { parseNote } from "../note/note.js";
import { createNoteKey, encodeVkey } from "../note/vkey.js";
import { openSqliteStore } from "../sqlite/open-sqlite-store.js";
import type { ReceiptStore } from "../store/store.js";
import { fill, logOver, noteKey, ORIGIN } from "../testing/contract-log.js";
import { withDirectory } from "../testing/directory.js";
import { listenAt, startWitness } from "../testing/running-witness.js";
import type { RunningWitness } from "../testing/running-witness.js";
import { verifyCheckpoint } from "../verify/checkpoint.js";
import { Witnessing } from "./witnessing.js";
import type { WitnessingOptions, WitnessReport } from "./witnessing.js";

const logKey = createNoteKey(ORIGIN, createSigner(noteKey).publicKey);

function witnessing(
  store: ReceiptStore,
  witnesses: readonly Pick<RunningWitness, "address">[],
  more: Partial<WitnessingOptions> = {},
): { service: Witnessing; reports: WitnessReport[] } {
  const reports: WitnessReport[] = [];
  const service = new Witnessing({
    store,
    logKey,
    witnesses: witnesses.map(({ address }) => address),
    threshold: witnesses.length,
    intervalMs: 1000,
    timeoutMs: 2000,
    holder: "gateway-1",
    clock: Date.now,
    onReport: (report) => reports.push(report),
    ...more,
  });
  return { service, reports };
}

/** Runs with the directory of a store and as many witnesses as asked for. */
async function withWitnesses(
  count: number,
  use: (folder: string, witnesses: RunningWitness[]) => Promise<void>,
): Promise<void> {
  await withDirectory(async (folder) => {
    const witnesses: RunningWitness[] = [];
    try {
      for (let at = 1; at <= count; at += 1) {
        const name = `witness.example/w${at}`;
        witnesses.push(
          await startWitness({ directory: join(folder, `w${at}`), logs: [logKey], name }),
        );
      }
      await use(folder, witnesses);
    } finally {
      for (const one of witnesses) await one.close();
    }
  });
}

const openStore = (folder: string): Promise<ReceiptStore> =>
  openSqliteStore({ directory: join(folder, "log") });

const storedNote = async (store: ReceiptStore): Promise<string> =>
  decodeAttestations(await store.readAttestations()).witnessed ?? "";

test("checkpoints of a growing log are cosigned, stored, and verify with a threshold", async () => {
  await withWitnesses(3, async (folder, witnesses) => {
    const store = await openStore(folder);
    const log = await logOver(store);
    const { service, reports } = witnessing(store, witnesses, { threshold: 2 });
    for (const count of [5, 300, 1]) {
      await fill(log, count);
      await log.checkpoint();
      await service.run();
    }
    const text = await storedNote(store);
    expect(parseCheckpoint(parseNote(text).text).size).toBe(306);
    expect(parseNote(text).signatures.length).toBe(4);
    expect(service.witnessed).toMatchObject({ size: 306, isEnough: true });
    expect(service.status().map(({ size, failures }) => [size, failures])).toEqual([
      [306, 0],
      [306, 0],
      [306, 0],
    ]);
    const keys = witnesses.map(({ vkey }) => vkey);
    const verify = (threshold: number, list = keys) =>
      verifyCheckpoint(text, {
        trustedLogs: [encodeVkey(logKey)],
        witnesses: { keys: list, threshold },
      });
    expect((await verify(3)).valid).toBe(true);
    const plain = await verifyCheckpoint((await store.readCheckpoint()) ?? "", {
      trustedLogs: [encodeVkey(logKey)],
      witnesses: { keys, threshold: 1 },
    });
    expect(plain.valid).toBe(false);
    expect(reports).toEqual([]);
    await service.close();
    await log.close();
  });
});

test("a log that is rolled back together with its checkpoint and attestations is detected at the start", async () => {
  await withWitnesses(1, async (folder, [witness]) => {
    if (witness === undefined) return;
    const first = await openStore(folder);
    const log = await logOver(first);
    await fill(log, 10);
    await log.checkpoint();
    await witnessing(first, [witness]).service.run();
    await log.close();
    await cp(join(folder, "log"), join(folder, "backup"), { recursive: true });
    const second = await openStore(folder);
    const grown = await logOver(second);
    await fill(grown, 10, 10);
    await grown.checkpoint();
    const { service } = witnessing(second, [witness]);
    await service.assertUnchanged();
    await service.run();
    expect(service.witnessed?.size).toBe(20);
    await grown.close();
    await rm(join(folder, "log"), { recursive: true });
    await cp(join(folder, "backup"), join(folder, "log"), { recursive: true });
    const third = await openStore(folder);
    const rolled = witnessing(third, [witness]);
    await rolled.service.load();
    await expect(rolled.service.assertUnchanged()).rejects.toMatchObject({
      code: "ERR_WITNESS_LOG_CHANGED",
      facts: { witness: "witness.example/w1", size: 20 },
    });
    expect(rolled.reports).toMatchObject([
      { kind: "changed", claim: { size: 20, isProven: true } },
    ]);
    await third.close();
  });
});

test("a second log of the same origin and size is refused by the witness and detected", async () => {
  await withWitnesses(1, async (folder, [witness]) => {
    if (witness === undefined) return;
    const first = await openStore(join(folder, "one"));
    const one = await logOver(first);
    await fill(one, 20);
    await one.checkpoint();
    const honest = witnessing(first, [witness]);
    await honest.service.run();
    expect(honest.service.witnessed?.size).toBe(20);
    await honest.service.assertUnchanged();
    await one.close();
    const second = await openStore(join(folder, "other"));
    const other = await logOver(second);
    await fill(other, 20, 100);
    await other.checkpoint();
    const forked = witnessing(second, [witness]);
    await forked.service.run();
    expect(forked.service.witnessed).toBeUndefined();
    expect(forked.reports).toMatchObject([
      { kind: "changed", claim: { size: 20, isProven: true } },
      { kind: "failing" },
    ]);
    await expect(forked.service.assertUnchanged()).rejects.toMatchObject({
      code: "ERR_WITNESS_LOG_CHANGED",
    });
    await other.close();
  });
});

/** Runs with a log of five entries and a service that asks the given witnesses. */
async function withLog(
  folder: string,
  witnesses: readonly Pick<RunningWitness, "address">[],
  more: Partial<WitnessingOptions>,
  use: (
    service: Witnessing,
    reports: WitnessReport[],
    grow: (count: number) => Promise<void>,
    store: ReceiptStore,
  ) => Promise<void>,
): Promise<void> {
  const store = await openStore(folder);
  const log = await logOver(store);
  const { service, reports } = witnessing(store, witnesses, more);
  let size = 0;
  const grow = async (count: number): Promise<void> => {
    await fill(log, count, size);
    size += count;
    await log.checkpoint();
  };
  await grow(5);
  await use(service, reports, grow, store);
  await service.close();
  await log.close();
}

test("a witness that is down is asked less and less often, is reported once, and cosigns again when it is back", async () => {
  await withWitnesses(2, async (folder, [one, other]) => {
    if (one === undefined || other === undefined) return;
    const gone = await listenAt(() => undefined);
    await gone.close();
    let now = Date.now();
    const clock = { clock: () => now, threshold: 2 };
    const down = { address: { ...other.address, url: gone.url } };
    await withLog(folder, [one, down], clock, async (service, reports, grow, store) => {
      for (let round = 0; round < 20; round += 1) {
        await grow(1);
        now += 1000;
        await service.run();
      }
      const [up, away] = service.status();
      expect(up).toMatchObject({ size: 25, failures: 0, submissions: 20 });
      expect(away?.failing).toContain("ECONNREFUSED");
      expect(away?.submissions).toBeLessThan(8);
      expect(reports.map(({ kind }) => kind)).toEqual(["failing"]);
      // One cosignature is stored, and does not count as witnessed.
      expect(service.witnessed).toMatchObject({ size: 25, isEnough: false });
      expect(service.uncoveredMs).toBeGreaterThan(0);
      const back = witnessing(store, [one, other], clock).service;
      await back.load();
      await back.run();
      expect(back.witnessed).toMatchObject({ size: 25, isEnough: true });
      expect(back.uncoveredMs).toBe(0);
    });
  });
});

test("a slow witness is given up after the time-out, has one request at a time, and does not delay the log", async () => {
  await withWitnesses(1, async (folder, [witness]) => {
    if (witness === undefined) return;
    let open = 0;
    let most = 0;
    const slow = await listenAt((request) => {
      open += 1;
      most = Math.max(most, open);
      request.once("close", () => {
        open -= 1;
      });
    });
    const asked = { address: { ...witness.address, url: slow.url } };
    await withLog(folder, [asked], { timeoutMs: 200 }, async (service, reports, grow) => {
      const rounds = [service.run(), service.run(), service.run()];
      const began = performance.now();
      await grow(50);
      expect(service.status()[0]?.failures).toBe(0);
      expect(performance.now() - began).toBeLessThan(5000);
      await Promise.all(rounds);
      expect([service.status()[0]?.submissions, most]).toEqual([1, 1]);
      expect(reports).toMatchObject([{ kind: "failing", reason: "no response within 200 ms" }]);
    });
    await slow.close();
  });
});

test("a lying witness gets nothing stored: wrong signature, time in the future, other key, endless or empty response, sizes without end", async () => {
  await withWitnesses(1, async (folder, [witness]) => {
    if (witness === undefined) return;
    const lines = new Map<string, string>([
      ["nothing", ""],
      ["no note", "hello\n"],
      [
        "another key",
        "— witness.example/w9 AAAAAAAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWX\n",
      ],
      ["endless", "x".repeat(200_000)],
    ]);
    let answer = "";
    let status = 200;
    let type = "text/plain";
    const liar = await listenAt((_, response) => {
      response.writeHead(status, { "content-type": type }).end(answer);
    });
    const asked = { address: { ...witness.address, url: liar.url } };
    const future = await startWitness({
      directory: join(folder, "future"),
      logs: [logKey],
      key: witness.key,
      name: witness.address.key.name,
      clock: () => Date.now() + 3_600_000,
    });
    await withLog(folder, [asked], { intervalMs: 1 }, async (service, reports, grow, store) => {
      for (const text of lines.values()) {
        answer = text;
        await service.run();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      // A true cosignature, of another checkpoint.
      const before = witnessing(store, [witness]).service;
      await before.run();
      const cosigned = await storedNote(store);
      await store.updateAttestations(() => "{}\n");
      answer = cosigned.slice(cosigned.indexOf("— witness"));
      await grow(1);
      await service.run();
      status = 409;
      type = "text/x.tlog.size";
      for (const size of ["3\n", "4\n", "99999999\n", "-1\n", "1e9\n", "9".repeat(400)]) {
        answer = size;
        await new Promise((resolve) => setTimeout(resolve, 130));
        await service.run();
      }
      expect(await storedNote(store)).toBe("");
      expect(service.witnessed).toBeUndefined();
      const [only] = service.status();
      expect(only?.submissions).toBeLessThan(30);
      // Without a checkpoint that the log signed the claim of more entries is no proof.
      expect(only?.claim).toEqual({ size: 99_999_999, isProven: false });
      expect(reports.filter(({ kind }) => kind === "changed").length).toBe(1);
      const early = witnessing(store, [future]);
      await early.service.run();
      expect(early.reports).toMatchObject([
        { kind: "failing", reason: "the time of its cosignature is in the future" },
      ]);
    });
    await future.close();
    await liar.close();
  });
});

test("one liar of two cannot stop a start, and as many as the threshold can", async () => {
  await withWitnesses(1, async (folder, [witness]) => {
    if (witness === undefined) return;
    const liar = await listenAt((request, response) => {
      if (request.method === "GET") response.writeHead(404).end();
      else response.writeHead(409, { "content-type": "text/x.tlog.size" }).end("999\n");
    });
    const asked = { address: { ...witness.address, url: liar.url } };
    await withLog(folder, [witness, asked], { threshold: 2 }, async (service, reports) => {
      await service.assertUnchanged();
      expect(reports).toMatchObject([{ kind: "changed", claim: { size: 999, isProven: false } }]);
    });
    await rm(join(folder, "log"), { recursive: true });
    await withLog(folder, [asked], { threshold: 1 }, async (service) => {
      await expect(service.assertUnchanged()).rejects.toMatchObject({
        code: "ERR_WITNESS_LOG_CHANGED",
      });
    });
    await liar.close();
  });
});

test("a witness that is restored from an older backup is reported, and goes on from its older size", async () => {
  await withDirectory(async (folder) => {
    const directory = join(folder, "w1");
    const first = await startWitness({ directory, logs: [logKey] });
    await withLog(folder, [first], {}, async (service, reports, grow, store) => {
      await service.run();
      await first.close();
      await cp(directory, join(folder, "backup"), { recursive: true });
      const second = await startWitness({ directory, logs: [logKey], key: first.key });
      await grow(10);
      const later = witnessing(store, [second]);
      await later.service.load();
      await later.service.run();
      expect(later.service.witnessed?.size).toBe(15);
      await second.close();
      await rm(directory, { recursive: true });
      await cp(join(folder, "backup"), directory, { recursive: true });
      const restored = await startWitness({ directory, logs: [logKey], key: first.key });
      await grow(1);
      const after = witnessing(store, [restored]);
      await after.service.load();
      await after.service.run();
      expect(after.reports).toMatchObject([{ kind: "forgetful", size: 5 }]);
      expect(after.service.witnessed?.size).toBe(16);
      await restored.close();
      expect(reports).toEqual([]);
    });
  });
});

test("damaged attestations are obtained again, and a witnessed checkpoint stays while a newer one has too few cosignatures", async () => {
  await withWitnesses(2, async (folder, [one, other]) => {
    if (one === undefined || other === undefined) return;
    const both = { threshold: 2 };
    await withLog(folder, [one, other], both, async (service, _, grow, store) => {
      for (const text of ["", "{", '{"witnessed":7}', '{"witnessed":"x"}', "[]"]) {
        await store.updateAttestations(() => text);
        const fresh = witnessing(store, [one, other], both).service;
        await fresh.load();
        await fresh.run();
        expect(fresh.witnessed).toMatchObject({ size: 5, isEnough: true });
      }
      await service.load();
      await other.close();
      await grow(3);
      await service.run();
      expect(service.witnessed).toMatchObject({ size: 5, isEnough: true });
      expect(service.status().map(({ size }) => size)).toEqual([8, 5]);
    });
  });
});
