import { join } from "node:path";
import { parseVkey } from "@countersign/receipts";
import { verifyCheckpoint } from "@countersign/receipts/verify";
import type { Check } from "@countersign/receipts/verify";
import { failed, held } from "@countersign/receipts/verify-node";
import { readNewest } from "@countersign/receipts/witness";
import { readText } from "../../files/read-file.js";
import { withGrowth } from "./kept-checkpoint.js";

const TIMEOUT_MS = 10_000;
const ID = "witness-newest";

/** The newest checkpoint that a witness has of a log. */
export type WitnessAnswer = { readonly url: string } & Awaited<ReturnType<typeof readNewest>>;

/** Asks witnesses for their newest checkpoint of a log; asked before the log is read, which may grow meanwhile. */
export function askWitnesses(
  urls: readonly string[],
  vkey: string,
  trustedLogs: readonly string[] = [],
): Promise<WitnessAnswer[]> {
  const presented = parseVkey(vkey);
  const keys = [...trustedLogs.map(parseVkey), presented];
  const own = keys.filter(({ name }) => name === presented.name);
  const limits = { timeoutMs: TIMEOUT_MS, now: Date.now() };
  return Promise.all(urls.map(async (url) => ({ url, ...(await readNewest(url, own, limits)) })));
}

/** The check that an export contains the newest checkpoint that a witness shows. */
export async function checkNewest(
  answer: WitnessAnswer,
  directory: string,
  vkey: string,
): Promise<Check> {
  if ("reason" in answer)
    return failed(
      ID,
      `${answer.url}: ${answer.reason}; the log was not compared with this witness`,
    );
  const { size } = answer.checkpoint;
  const result = await verifyCheckpoint(readText(join(directory, "checkpoint")), {
    presentedKey: vkey,
    older: await withGrowth(directory, answer.text),
  });
  const isHeld = result.checks.some(
    ({ id, status }) => id === "checkpoint-consistency" && status === "held",
  );
  if (isHeld) return held(ID, `${answer.url}: it cosigned ${size} entries`);
  const mine = result.checkpoint?.size ?? 0;
  const why =
    mine < size
      ? `this log has ${mine}: it was rolled back, or it is a copy from before`
      : "this log has others: it was replaced, or shows you what it does not show the witness";
  return failed(ID, `${answer.url}: it cosigned ${size} entries, and ${why}`);
}
