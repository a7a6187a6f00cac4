import { join } from "node:path";
import { isCountersignError } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { KEY_FILES } from "@countersign/gateway";
import { openCheckpoint, parseVkey } from "@countersign/receipts";
import type { ReceiptStore } from "@countersign/receipts/log";
import { countWitnesses } from "@countersign/receipts/verify";
import { decodeAttestations } from "@countersign/receipts/witness";
import { pathExists } from "../../files/path-exists.js";
import { readText } from "../../files/read-file.js";
import type { Location } from "./location.js";

/** The newest checkpoint that configured witnesses cosigned. */
export type Witnessed = {
  readonly size: number;
  /** Milliseconds since the epoch of the newest cosignature. */
  readonly cosigned_at: number;
  readonly names: readonly string[];
  readonly threshold: number;
};

/** Reads it; `undefined` without configured witnesses, null before one has cosigned. */
export async function readWitnessed(
  store: ReceiptStore,
  { witnesses, keyDirectory }: Location,
): Promise<Witnessed | null | undefined> {
  if (witnesses === undefined) return undefined;
  const { witnessed } = decodeAttestations(await store.readAttestations());
  const vkeyFile = join(keyDirectory, KEY_FILES.vkey);
  if (witnessed === undefined || !pathExists(vkeyFile)) return null;
  const keys = [readText(vkeyFile).trim(), ...witnesses.list.map(({ vkey }) => vkey)];
  try {
    const checkpoint = await openCheckpoint(witnessed, keys.map(parseVkey), verifyEd25519);
    const { cosignatures } = countWitnesses(checkpoint, {});
    if (cosignatures.length === 0) return null;
    return {
      size: checkpoint.size,
      cosigned_at: Math.max(...cosignatures.map(({ time }) => Number(time))) * 1000,
      names: cosignatures.map(({ key }) => key.name),
      threshold: witnesses.threshold,
    };
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return null;
  }
}

/** One line about an entry. */
export function describeWitnessed(
  seq: number,
  found: Witnessed | null,
  { witnesses }: Location,
): string {
  if (found === null || seq >= found.size) return "not yet witnessed";
  const { size, cosigned_at: at, names, threshold } = found;
  const total = witnesses?.list.length ?? names.length;
  const enough = names.length < threshold ? `; ${threshold} are needed` : "";
  const when = new Date(at).toISOString().replace(".000Z", "Z");
  return `witnessed by ${names.length} of ${total} (${names.join(", ")}): checkpoint of ${size} entries, ${when}${enough}`;
}
