import type { Entry, Status } from "../api/responses.js";
import { fetchJson, fetchText, request } from "../api/request.js";
import type { Evidence } from "./verify-entry.js";

/** Fetches everything that a verification needs. */
export async function readEvidence(
  seq: string,
  options: { signal: AbortSignal },
): Promise<Evidence> {
  // The proof comes first: it reports a position that the log does not have.
  const proof = await fetchText(`/v1/receipts/${seq}/proof`, options);
  const [response, status] = await Promise.all([
    request(`/v1/receipts/export?start=${seq}&limit=1`, options),
    fetchJson<Status>("/v1/status", options),
  ]);
  const line = new Uint8Array(await response.arrayBuffer());
  const bytes = line.at(-1) === 10 ? line.subarray(0, -1) : line;
  const text = new TextDecoder().decode(bytes);
  return {
    bytes,
    text,
    entry: entryOf(text),
    proof,
    presentedKey: status.log.key,
    ...witnessesOf(proof, status),
    size: Number(response.headers.get("countersign-size") ?? 0),
  };
}

/** The witnesses of a proof whose checkpoint has further signatures beside the log's own. */
function witnessesOf(proof: string, { log: { witnesses } }: Status): Pick<Evidence, "witnesses"> {
  const signatures = proof.split("\n").filter((line) => line.startsWith("\u2014 "));
  if (witnesses === undefined || signatures.length < 2) return {};
  const keys = witnesses.list.map(({ vkey }) => vkey);
  return { witnesses: { keys, threshold: witnesses.threshold } };
}

function entryOf(text: string): Entry | undefined {
  try {
    const value = JSON.parse(text) as Partial<Entry> | null;
    return typeof value?.receipt === "object" ? (value as Entry) : undefined;
  } catch {
    return undefined;
  }
}
