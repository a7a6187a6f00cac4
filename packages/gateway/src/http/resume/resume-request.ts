import type { HttpResponse } from "../exchange.js";
import type { Signal } from "../../base/signal.js";

/** Somebody who wants to go on with a stream. */
export type ResumeRequest = {
  /** The place behind which they want to go on, as they know it. */
  readonly lastEventId: string;
  readonly agent: string;
  /** Who they are, or the hash of the ticket that they showed: an `EventSource` comes back with the same address. */
  readonly holder: { readonly principal: string } | { readonly ticket: string };
  /** Whether they come back even from the end of a run, as an `EventSource` does, and must be told to stay away. */
  readonly returnsForever: boolean;
};

const PLACE = /^([\w-]{22,32})\.(\d{1,15})$/u;

/** The stream and the number of the event that a `Last-Event-ID` of ours names. */
export function readPlace(lastEventId: string): { key: string; after: number } | undefined {
  const [, key, after] = PLACE.exec(lastEventId) ?? [];
  return key === undefined ? undefined : { key, after: Number(after) };
}

/** Passes on a stream that another gateway has. */
export type ResumeElsewhere = {
  /**
   * Resolves with whether another gateway goes on with the stream through this one, once it has begun.
   *
   * @throws CountersignError `ERR_STREAM_UNREACHABLE`, `ERR_STREAM_RELAYS`
   */
  passOn(back: ResumeRequest, response: HttpResponse, gone: Signal): Promise<boolean>;
};
