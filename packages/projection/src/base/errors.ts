import type { ErrorCode } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A row is not a ledger event. */
    ERR_PROJECTION_MALFORMED_EVENT: { path: string };
    /** A payload does not match its kind. */
    ERR_PROJECTION_MALFORMED_PAYLOAD: { kind: string; path: string };
    /** A value is not plain JSON, or too deep or too large. */
    ERR_PROJECTION_UNSAFE_VALUE: { path: string };
    /** No projector is registered for the owner of this event. */
    ERR_PROJECTION_NO_PROJECTOR: Record<string, never>;
    /** The owner is listed twice, so none of its projectors is used. */
    ERR_PROJECTION_DUPLICATE_OWNER: { owner: string };
    /** A built-in owner cannot be replaced. */
    ERR_PROJECTION_RESERVED_OWNER: { owner: string };
    /** The owner's projector returned nothing. */
    ERR_PROJECTION_NOT_PROJECTED: Record<string, never>;
    /** The owner's projector threw. */
    ERR_PROJECTION_PROJECTOR_FAILED: Record<string, never>;
    /** A safe event does not repeat the identity of its source. */
    ERR_PROJECTION_IDENTITY: Record<string, never>;
    /** A CUSTOM name is reserved for the runtime or the protocol. */
    ERR_PROJECTION_RESERVED_NAME: Record<string, never>;
    /** An owner's frame has a type or an id that it may not use, or is malformed. */
    ERR_PROJECTION_FRAME_REFUSED: { reason: string };
    /** A built-in owner wrote an unknown kind. */
    ERR_PROJECTION_UNKNOWN_KIND: Record<string, never>;
    /** An item of a model response was skipped. */
    ERR_PROJECTION_UNKNOWN_ITEM: { path: string };
    /** The event was projected before. */
    ERR_PROJECTION_DUPLICATE_EVENT: Record<string, never>;
    /** The event is outside the scope of the stream. */
    ERR_PROJECTION_OTHER_SCOPE: Record<string, never>;
    /** The event belongs to a run that is not open. */
    ERR_PROJECTION_OTHER_RUN: Record<string, never>;
    /** A frame has no run to belong to. */
    ERR_PROJECTION_OUTSIDE_RUN: Record<string, never>;
    /** A run started while another was open. */
    ERR_PROJECTION_RUN_SUPERSEDED: Record<string, never>;
    /** A run ended with an agent tool call without a recorded result. */
    ERR_PROJECTION_CALL_UNANSWERED: Record<string, never>;
    /** Live text has no run, or differs from the record. */
    ERR_PROJECTION_LIVE_TEXT: { reason: string };
    /** The stream ended before its run did. */
    ERR_PROJECTION_STREAM_ENDED: Record<string, never>;
    /** The history is larger than a client can hold. */
    ERR_PROJECTION_HISTORY_TOO_LARGE: Record<string, never>;
    /** A request body is not a valid input, or contains a rejected part. */
    ERR_PROJECTION_INPUT: { path: string; reason: string };
  }
}

/** The codes of this package. */
export type ProjectionCode = Extract<ErrorCode, `ERR_PROJECTION_${string}`>;
