import { ControlProblem, fetchJson } from "../api/request.js";
import type { Payloads } from "./steps.js";

/** `GET /v1/runs/{session}/{run}/evidence`. */
type EvidencePage = {
  readonly items: readonly { readonly seq: number; readonly payload: unknown }[];
  readonly cursor?: string;
};

/** Payloads of a run, or why there are none. */
export type Kept =
  | { readonly state: "kept"; readonly payloads: Payloads }
  | { readonly state: "none"; readonly problem: ControlProblem };

/** Pages of one run that are read at most. */
const MAX_PAGES = 20;

/** Reads the payloads that the gateway kept of a run. Each read is a receipt. */
export async function readPayloads(
  session: string,
  run: string,
  options: { signal: AbortSignal },
): Promise<Kept> {
  const payloads = new Map<number, unknown>();
  const path = `/v1/runs/${encodeURIComponent(session)}/${encodeURIComponent(run)}/evidence`;
  let cursor: string | undefined;
  try {
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
      const page = await fetchJson<EvidencePage>(`${path}${query}`, options);
      for (const { seq, payload } of page.items) payloads.set(seq, payload);
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
  } catch (error) {
    if (!(error instanceof ControlProblem)) throw error;
    return { state: "none", problem: error };
  }
  return { state: "kept", payloads };
}
