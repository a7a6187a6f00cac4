import { decodeUtf8 } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import type { KeyRecord } from "../keys/history.js";
import { parseKeyHistory } from "../keys/history.js";
import { findBrokenRecord } from "../keys/verify-history.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import type { ExportReader } from "./reader.js";
import { EXPORT_FILES } from "./reader.js";
import type { Check } from "./result.js";
import { failed, failedBy, held } from "./result.js";

const MAX_KEYS_BYTES = 16 * 1024 * 1024;

/** Reads a small text file of an export; undefined when it is missing, too large or not UTF-8. */
export async function readText(
  reader: ExportReader,
  path: string,
  maxBytes: number,
): Promise<string | undefined> {
  const bytes = await reader.read(path, maxBytes);
  if (bytes === undefined || bytes.length > maxBytes) return undefined;
  return decodeUtf8(bytes);
}

/** Checks the key history of an export; an invalid one gives an empty list. */
export async function checkKeys(
  reader: ExportReader,
  options: { verifySignature?: SignatureVerifier },
): Promise<{ check: Check; records: KeyRecord[] | undefined }> {
  const id = "key-history";
  const text = await readText(reader, EXPORT_FILES.keys, MAX_KEYS_BYTES);
  if (text === undefined) return { check: failed(id, "keys.jsonl is missing"), records: undefined };
  try {
    const records = parseKeyHistory(text);
    const broken = await findBrokenRecord(records, options.verifySignature ?? verifyEd25519);
    if (broken === undefined) return { check: held(id, `${records.length} keys`), records };
    return { check: failed(id, `line ${broken.line}: ${broken.reason}`), records: undefined };
  } catch (error) {
    return { check: failedBy(id, error), records: undefined };
  }
}
