import type { GrantName } from "../../access/access.js";
import type { ReceiptTransport } from "../../event/sink.js";
import type { OpenedRun } from "../../runs/start-run.js";

/** A request to resume a stream. */
export type ResumeRequest = {
  /** The position that the client sent (`Last-Event-ID`). */
  readonly lastEventId: string;
  readonly agent: string;
  /** The principal, or the hash of the ticket: an `EventSource` reconnects with the same URL. */
  readonly holder: { readonly principal: string } | { readonly ticket: string };
  /** Whether the client reconnects even after the end of a run, as an `EventSource` does, and must be told to stop. */
  readonly returnsForever: boolean;
  /** Whether the client reads beside the one that has the stream, instead of taking the stream over. */
  readonly isViewer: boolean;
};

/** The principal or ticket that may resume a stream, and its agent and session. */
export type HolderFacts = {
  readonly principal: string;
  readonly agent: string;
  readonly sessionId: string;
  /** Hash of the ticket that opened it: an `EventSource` reconnects with the same URL. */
  readonly ticket?: string | undefined;
};

/** A position in a stream, as a client knows it. */
export type Position = {
  readonly key: string;
  /** The number of the last event that the client has. */
  readonly after: number;
  /** Whether that event ended a run. */
  readonly isRunOver: boolean;
};

const POSITION = /^([\w-]{22,32})\.(\d{1,15})(\.over)?$/u;

/** Parses a position; `undefined` for anything that the gateway did not write. */
export function readPosition(lastEventId: string): Position | undefined {
  const [, key, after, over] = POSITION.exec(lastEventId) ?? [];
  if (key === undefined) return undefined;
  return { key, after: Number(after), isRunOver: over !== undefined };
}

/** Writes a position. That of an event that ended a run says so: its gateway may be gone before it is stored. */
export function writePosition(key: string, after: number, isRunOver = false): string {
  return `${key}.${after}${isRunOver ? ".over" : ""}`;
}

/** Whether the client of a request is the holder of a stream. */
export function isHolder(
  holder: HolderFacts,
  { agent, holder: client }: ResumeRequest,
  isTicketValid: () => boolean,
): boolean {
  if (holder.agent !== agent) return false;
  return "ticket" in client
    ? holder.ticket === client.ticket && isTicketValid()
    : holder.principal === client.principal;
}

/** The facts about a stream that other gateways need. */
export type SharedFacts = {
  readonly holder: HolderFacts;
  /** The grant behind the stream, for a client that has only its ticket. */
  readonly grant: GrantName | undefined;
  readonly transport: ReceiptTransport;
  readonly run: OpenedRun;
};
