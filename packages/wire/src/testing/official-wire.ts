import {
  CompatibilityBoundary,
  enforceEvents,
  transformChunks,
  transformHttpEventStream,
  verifyEvents,
} from "@ag-ui/client";
import type { JsonValue } from "@countersign/core";
import { Subject, tap } from "rxjs";
import type { AgUiEvent } from "../model/event.js";
import type { OfficialVerdict } from "./official-pipeline.js";

type Source = Parameters<typeof transformHttpEventStream>[0];
type BoundaryParameters = Parameters<CompatibilityBoundary["run"]>;

/**
 * Runs the real client over the bytes of an SSE response, from its reader (`parseSSEStream` and the
 * check for a type behind it) to `verifyEvents`, synchronously. `failedAt` counts SSE messages with data.
 */
export function officialWire(pieces: readonly Uint8Array[]): OfficialVerdict {
  const verdict: OfficialVerdict = { passed: [], failedAt: undefined, message: undefined };
  let read = 0;
  let readerFailed = false;
  // The reader listens at once, so its source must speak only after everything is connected.
  const source = new Subject<unknown>();
  const events = transformHttpEventStream(source as unknown as Source).pipe(
    tap({
      next: () => {
        read++;
      },
      error: () => {
        readerFailed = true;
      },
    }),
  );
  new CompatibilityBoundary()
    .run(
      { messages: [] } as unknown as BoundaryParameters[0],
      { run: () => events } as unknown as BoundaryParameters[1],
    )
    .pipe(enforceEvents())
    .pipe(transformChunks(), verifyEvents())
    .subscribe({
      next: (event) => verdict.passed.push(plain(event)),
      error: (error: unknown) => {
        verdict.failedAt = readerFailed ? read : read - 1;
        verdict.message = error instanceof Error ? error.message : String(error);
      },
    });
  source.next({ type: "headers", status: 200, headers: new Headers() });
  for (const data of pieces) source.next({ type: "data", data });
  source.complete();
  return verdict;
}

/** The event without absent members that are there as `undefined`, and without supplied empty lists. */
function plain(event: unknown): AgUiEvent {
  return withoutSuppliedLists(JSON.parse(JSON.stringify(event)) as JsonValue);
}

/** Drops empty `tools` and `context` of an echoed input: the client's parser supplies them. */
export function withoutSuppliedLists(event: unknown): AgUiEvent {
  const { input } = event as { input?: Record<string, unknown> };
  if (input === undefined) return event as AgUiEvent;
  const kept = Object.entries(input).filter(
    ([key, value]) =>
      !((key === "tools" || key === "context") && Array.isArray(value) && value.length === 0),
  );
  return { ...(event as object), input: Object.fromEntries(kept) } as unknown as AgUiEvent;
}
