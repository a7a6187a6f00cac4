import type { RequestSettings } from "@countersign/policy";
import type { Message } from "@countersign/wire";
import { digestOf } from "../thread/digest.js";
import type { CallRecord, MessageRecord } from "../thread/message-record.js";
import type { ThreadState } from "../thread/thread-state.js";

/**
 * Returns a reason if a client's messages from a run match no single moment of that run.
 *
 * A client that disconnects has received every event up to some moment and none after it. Each message in the request, and each missing
 * one, narrows the time of that moment. If no moment is left, the client changed the history: for example it removed a refusal and kept the
 * answer after it.
 */
export function prefixProblem(
  messages: readonly Message[],
  { order, loose, messages: known }: ThreadState,
  { accept }: RequestSettings["history"],
): string | undefined {
  const moments = new Moments();
  const held = new Set<string>();
  for (const message of messages) {
    held.add(message.id);
    const record = known.get(message.id);
    if (record !== undefined) moments.hold(message, record);
  }
  // A client that sends only the end of a history leaves out everything before it, whatever the role.
  const first = accept === "full" ? 0 : order.findIndex((id) => held.has(id));
  const answered = new Set(
    messages.map((message) => message.role === "tool" && message.toolCallId),
  );
  if (loose.size > 0 && first !== -1) {
    for (const id of order.slice(first)) {
      const record = loose.has(id) && !held.has(id) ? known.get(id) : undefined;
      if (record === undefined) continue;
      moments.miss(record);
      // A client that answers a call has received the call.
      for (const call of record.calls ?? []) if (answered.has(call.id)) moments.see(record, call);
    }
  }
  return moments.isPossible() ? undefined : "what is kept of a run is not a beginning of it";
}

/** For each run, the moments at which its client may have disconnected. */
class Moments {
  readonly #runs = new Map<string, { from: number; until: number }>();

  /** The client has a message, with this content and these calls. */
  hold(message: Message, { run, from = 0, at, content, calls = [] }: MessageRecord): void {
    if (run === undefined) return;
    this.#narrow(run, from);
    this.#match(run, content, at, message.content);
    const mine = message.role === "assistant" ? (message.toolCalls ?? []) : [];
    for (const [index, call] of calls.entries()) {
      const said = mine[index];
      if (said === undefined) {
        if (call.from !== undefined) this.#narrow(run, 0, call.from);
        continue;
      }
      this.#narrow(run, call.from ?? 0);
      this.#match(run, call.arguments, call.at, said.function.arguments);
    }
  }

  /** The client does not have the message. */
  miss({ run, from = 0, content }: MessageRecord): void {
    // The agent itself emptied this message, so it may be missing at any moment.
    if (run !== undefined && from > 0 && content.at(-1) !== "") this.#narrow(run, 0, from);
  }

  /** The client has received a call of the message. */
  see({ run }: MessageRecord, { from = 0, at }: CallRecord): void {
    if (run !== undefined) this.#narrow(run, at?.at(-1) ?? from);
  }

  isPossible(): boolean {
    return [...this.#runs.values()].every(({ from, until }) => from < until);
  }

  #match(run: string, digests: readonly string[], at: readonly number[] = [], said: unknown): void {
    const digest = at.length === digests.length ? digestOf(said) : "";
    const first = digest === "" ? -1 : digests.indexOf(digest);
    if (first === -1) return;
    this.#narrow(run, at[first] ?? 0, at[digests.lastIndexOf(digest) + 1]);
  }

  #narrow(run: string, from: number, until = Number.POSITIVE_INFINITY): void {
    const known = this.#runs.get(run);
    this.#runs.set(run, {
      from: Math.max(known?.from ?? 0, from),
      until: Math.min(known?.until ?? Number.POSITIVE_INFINITY, until),
    });
  }
}
