import { transformChunks, verifyEvents } from "@ag-ui/client";
import { from, tap } from "rxjs";
import type { AgUiEvent } from "../model/event.js";

/** What the official chunk expansion and verification make of a stream. */
export type OfficialVerdict = {
  /** The events that passed. */
  passed: AgUiEvent[];
  /** The index of the event it refused, if any. */
  failedAt: number | undefined;
  message: string | undefined;
};

type OfficialEvents = Parameters<ReturnType<typeof verifyEvents>>[0];

/** Runs `transformChunks` and `verifyEvents` of the real client over a stream, synchronously. */
export function officialVerdict(events: readonly AgUiEvent[]): OfficialVerdict {
  const verdict: OfficialVerdict = { passed: [], failedAt: undefined, message: undefined };
  let index = -1;
  const source = from(events).pipe(tap(() => index++)) as unknown as OfficialEvents;
  source.pipe(transformChunks(), verifyEvents()).subscribe({
    next: (event) => verdict.passed.push(event as unknown as AgUiEvent),
    error: (error: unknown) => {
      verdict.failedAt = index;
      verdict.message = error instanceof Error ? error.message : String(error);
    },
  });
  return verdict;
}
