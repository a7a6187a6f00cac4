import type { ErrorCode } from "@countersign/core";
import type { Refusal } from "./problem-details.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The agent could not be reached, or refused before a stream began. */
    ERR_CLIENT_CONNECT: {
      transport: string;
      /** The HTTP status or WebSocket close code, when there was an answer. */
      status?: number;
      /** Whether it is certain that no run started, so that a retry cannot start a second one. */
      notStarted: boolean;
      /** Milliseconds the server asked to wait. */
      retryAfter?: number;
      /** The server's own account of its refusal. */
      refusal?: Refusal;
    };
    /** The response is not an event stream. */
    ERR_CLIENT_NOT_A_STREAM: { contentType: string };
    /** The stream ended before its run did. */
    ERR_CLIENT_TRUNCATED: { events: number };
    /** Nothing arrived for longer than the store waits. */
    ERR_CLIENT_STALLED: { afterMs: number };
    /** An event contradicts the life of its run. */
    ERR_CLIENT_ORDER: { rule: string; eventNumber: number };
    /** A run is still going. */
    ERR_CLIENT_RUN_ACTIVE: Record<string, never>;
    /** The entries do not match the open interrupts. */
    ERR_CLIENT_INTERRUPTS: { reason: "missing" | "unknown" | "repeated" | "expired" | "open" };
    /** The results do not match the pending tool calls. */
    ERR_CLIENT_TOOL_CALLS: { reason: "missing" | "unknown" | "repeated" };
    /** A receipt was refused or is missing, and the store's option says to fail the run. */
    ERR_CLIENT_RECEIPT: { refused: number; missing: number };
    /** The store was closed. */
    ERR_CLIENT_CLOSED: Record<string, never>;
  }
}

/** The codes that the client itself throws or shows; what it reads may show those of `wire` and `core`. */
export type ClientErrorCode = Extract<ErrorCode, `ERR_CLIENT_${string}`>;
