import { isCountersignError } from "@countersign/core";
import { verifyProof } from "@countersign/receipts/verify";
import type { Check, Verification } from "@countersign/receipts/verify";
import type { Entry, Status } from "../api/responses.js";
import { fetchJson, fetchText, request } from "../api/request.js";

/** An entry of the log, and its inclusion proof. */
export type Evidence = {
  /** The exact bytes that were hashed. */
  readonly bytes: Uint8Array;
  readonly text: string;
  /** `undefined` when the bytes are not an entry. */
  readonly entry: Entry | undefined;
  readonly proof: string;
  /** The key that the gateway itself names. */
  readonly presentedKey: string;
  readonly size: number;
};

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
    size: Number(response.headers.get("countersign-size") ?? 0),
  };
}

function entryOf(text: string): Entry | undefined {
  try {
    const value = JSON.parse(text) as Partial<Entry> | null;
    return typeof value?.receipt === "object" ? (value as Entry) : undefined;
  } catch {
    return undefined;
  }
}

/** A verification, or that this browser cannot make one. */
export type Outcome =
  | { readonly kind: "checked"; readonly verification: Verification; readonly isPinned: boolean }
  | { readonly kind: "impossible"; readonly reason: string };

/**
 * Verifies signature, place and checkpoint with the code of this page.
 *
 * @param pinned the log's key that the operator trusts; without one the gateway's own is used, which proves less
 */
export async function verifyEvidence(
  evidence: Evidence,
  pinned: string | undefined,
): Promise<Outcome> {
  const trust =
    pinned === undefined ? { presentedKey: evidence.presentedKey } : { trustedLogs: [pinned] };
  try {
    const verification = await verifyProof(evidence.proof, evidence.bytes, trust);
    return { kind: "checked", verification, isPinned: pinned !== undefined };
  } catch (error) {
    if (isCountersignError(error, "ERR_NOTE_KEY")) {
      return { kind: "impossible", reason: "The pinned key is not a log's key: name+id+base64." };
    }
    return {
      kind: "impossible",
      reason:
        "This browser does not offer Ed25519 on this page. Open the console over https or on 127.0.0.1, or use a current browser.",
    };
  }
}

/** The checks that were performed; skipped ones are left out. */
export function performedChecks({ checks }: Verification): Check[] {
  return checks.filter(({ status }) => status !== "skipped");
}
