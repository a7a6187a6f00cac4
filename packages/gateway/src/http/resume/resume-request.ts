import type { Signal } from "@countersign/core";
import type { HttpResponse } from "../exchange.js";

/** A request to resume a stream. */
export type ResumeRequest = {
  /** The `Last-Event-ID` that the client sent. */
  readonly lastEventId: string;
  readonly agent: string;
  /** The principal, or the hash of the ticket: an `EventSource` reconnects with the same URL. */
  readonly holder: { readonly principal: string } | { readonly ticket: string };
  /** Whether the client reconnects even after the end of a run, as an `EventSource` does, and must be told to stop. */
  readonly returnsForever: boolean;
};

const LAST_EVENT_ID = /^([\w-]{22,32})\.(\d{1,15})$/u;

/** Parses a `Last-Event-ID` into the stream key and the event number. */
export function readStreamPosition(
  lastEventId: string,
): { key: string; after: number } | undefined {
  const [, key, after] = LAST_EVENT_ID.exec(lastEventId) ?? [];
  return key === undefined ? undefined : { key, after: Number(after) };
}

/** Relays a stream that another gateway has. */
export type ResumeElsewhere = {
  /**
   * Resolves with whether another gateway continues the stream through this one, once it has begun.
   *
   * @throws CountersignError `ERR_STREAM_UNREACHABLE`, `ERR_STREAM_RELAYS`
   */
  relay(request: ResumeRequest, response: HttpResponse, gone: Signal): Promise<boolean>;
};
