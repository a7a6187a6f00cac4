import { ControlProblem, fetchJson } from "../api/request.js";
import type { Payloads } from "./steps.js";

/** One kept payload, of `GET /v1/receipts/{which}/evidence`. */
export type KeptPayload = {
  readonly seq: number;
  readonly kept_at?: number;
  readonly payload?: unknown;
  /** What the client received instead. */
  readonly emitted?: unknown;
  readonly redacted?: readonly string[];
  readonly omitted?: "policy" | "size";
  readonly problem?: { readonly code: string; readonly title: string };
};

/** `GET /v1/runs/{session}/{run}/evidence`. */
type EvidencePage = { readonly items: readonly KeptPayload[]; readonly cursor?: string };

/** Payloads of a run, or why there are none. */
export type Kept =
  | {
      readonly state: "kept";
      /** What the person saw or sent, and what was withheld. */
      readonly payloads: Payloads;
      /** The payloads that have the hash of their receipt: none of which the policy removed a part. */
      readonly originals: Payloads;
      /** Copies with parts that the policy removed, copies without content, and changed ones. */
      readonly redacted: number;
      readonly omitted: number;
      readonly damaged: number;
    }
  | { readonly state: "none"; readonly problem: ControlProblem };

/** Pages of one run that are read at most: of 500 entries, or less where payloads are large. */
const MAX_PAGES = 20;
const PAGE_ENTRIES = 500;

/** Reads the payloads that the gateway kept of a run. Each read is a receipt. */
export async function readPayloads(
  session: string,
  run: string,
  options: { signal: AbortSignal },
): Promise<Kept> {
  const payloads = new Map<number, unknown>();
  const items: KeptPayload[] = [];
  const path = `/v1/runs/${encodeURIComponent(session)}/${encodeURIComponent(run)}/evidence`;
  let cursor: string | undefined;
  try {
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const query = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await fetchJson<EvidencePage>(`${path}?limit=${PAGE_ENTRIES}${query}`, options);
      items.push(...page.items);
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
  } catch (error) {
    if (!(error instanceof ControlProblem)) throw error;
    return { state: "none", problem: error };
  }
  for (const item of items) {
    // The person saw what was sent; a part of the payload may have been withheld.
    const shown = item.emitted ?? item.payload;
    if (shown !== undefined) payloads.set(item.seq, shown);
  }
  const originals = items.filter(
    ({ payload, redacted }) => payload !== undefined && redacted === undefined,
  );
  return {
    state: "kept",
    payloads,
    originals: new Map(originals.map(({ seq, payload }) => [seq, payload])),
    redacted: items.filter(({ redacted }) => redacted !== undefined).length,
    omitted: items.filter(({ omitted }) => omitted !== undefined).length,
    damaged: items.filter(({ problem }) => problem !== undefined).length,
  };
}
