import { ControlProblem, fetchJson } from "../api/request.js";
import type { Entries, Entry } from "../api/responses.js";
import { clicksIn } from "./clicks.js";
import { readPayloads } from "./read-payloads.js";
import type { Payloads } from "./steps.js";

/** Receipts of a run with their payloads. */
export type KeptRun = { readonly entries: readonly Entry[]; readonly payloads: Payloads };

/** Receipts that are looked at to find the run before, and receipts of it. */
const LOOK_BACK = 50;
const MAX_ENTRIES = 1000;

/**
 * Reads the run before in the thread, if this one is a press: that run has the label of what was pressed. Reading it
 * is a receipt, as for every run. Undefined when there is none, or nothing of it is kept.
 */
export async function readRunBefore(
  { entries, payloads }: KeptRun,
  options: { signal: AbortSignal },
): Promise<KeptRun | undefined> {
  const request = entries.find(
    ({ seq, direction }) =>
      direction === "inbound" && clicksIn(payloads.get(seq)).some(({ kind }) => kind === "press"),
  );
  const session = request?.receipt.session_id;
  const { thread_id: thread, run_id: own } = request ?? {};
  if (request === undefined || session === undefined || thread === undefined) return undefined;
  const find = (more: Readonly<Record<string, string>>): Promise<Entries> =>
    fetchJson(
      `/v1/receipts?${new URLSearchParams({ session_id: session, thread_id: thread, ...more }).toString()}`,
      options,
    );
  try {
    const until = String(request.received_at);
    const last = await find({
      order: "newest",
      direction: "outbound",
      until,
      limit: `${LOOK_BACK}`,
    });
    const run = last.entries.find((one) => one.seq < request.seq && one.run_id !== own)?.run_id;
    if (run === undefined) return undefined;
    const [before, kept] = await Promise.all([
      find({ order: "oldest", run_id: run, limit: `${MAX_ENTRIES}` }),
      readPayloads(session, run, options),
    ]);
    return kept.state === "kept" ? { entries: before.entries, payloads: kept.payloads } : undefined;
  } catch (error) {
    // The press is shown without its label.
    if (error instanceof ControlProblem) return undefined;
    throw error;
  }
}
