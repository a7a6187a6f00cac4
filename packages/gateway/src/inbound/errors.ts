import "@countersign/core";

/** The refused part of a request, and the fix, if known. */
export type RefusedPart = {
  /** A JSON Pointer into the request. */
  readonly pointer?: string;
  readonly remedy?: string;
};

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A request has a key that AG-UI does not define. */
    ERR_INBOUND_UNKNOWN_KEY: RefusedPart;
    /** A message on a socket that has no run. */
    ERR_MESSAGE_NO_RUN: RefusedPart;
    /** A message to an agent whose transport accepts none. */
    ERR_MESSAGE_ONE_WAY: RefusedPart;
    /** The thread belongs to another principal. */
    ERR_THREAD_OWNER: RefusedPart;
    /** A message that the gateway never delivered, in a role that is not the client's. */
    ERR_HISTORY_INVENTED: RefusedPart;
    /** A message with other content than was delivered or accepted. */
    ERR_HISTORY_REWRITTEN: RefusedPart;
    /** A message of the history is missing, or the history has another order. */
    ERR_HISTORY_DROPPED: RefusedPart;
    /** A message without a known end, because the gateway was killed. */
    ERR_HISTORY_UNFINISHED: RefusedPart;
    /** A new message before one that was delivered earlier. */
    ERR_HISTORY_INTERLEAVED: RefusedPart;
    /** A result of a call that was not delivered on this thread. */
    ERR_TOOL_RESULT_UNKNOWN: RefusedPart;
    /** A second result of one call. */
    ERR_TOOL_RESULT_TWICE: RefusedPart;
    /** A result of a call of a tool that is not the client's. */
    ERR_TOOL_RESULT_FOREIGN: RefusedPart;
    /** An answer to an interrupt that is not open on this thread. */
    ERR_RESUME_UNKNOWN: RefusedPart;
    /** Not every open interrupt is answered. */
    ERR_RESUME_INCOMPLETE: RefusedPart & { open: readonly string[] };
    /** The interrupt has expired. */
    ERR_RESUME_EXPIRED: RefusedPart;
    /** The answer does not match the interrupt's schema. */
    ERR_RESUME_MISMATCH: RefusedPart;
    /** The interrupt was answered before with another answer. */
    ERR_RESUME_ANSWERED: RefusedPart;
    /** A declared tool whose name is not plain ASCII, is too long or appears twice. */
    ERR_TOOLS_NAME: RefusedPart;
    /** A declared tool has the name of one of the agent's own tools. */
    ERR_TOOLS_SHADOWED: RefusedPart;
    /** A declared tool is not in the pinned manifest, or differs from it. */
    ERR_TOOLS_UNPINNED: RefusedPart;
    /** The state is too large or has keys that the policy does not allow. */
    ERR_STATE_REFUSED: RefusedPart;
    /** The context is too large or has entries that the policy does not allow. */
    ERR_CONTEXT_REFUSED: RefusedPart;
    /** The forwarded properties are too large or have keys that the policy does not allow. */
    ERR_FORWARDED_PROPS_REFUSED: RefusedPart;
    /** The run id was used before. */
    ERR_RUN_ID_REUSED: RefusedPart;
    /** The last run on the thread is still open. */
    ERR_RUN_ACTIVE: RefusedPart;
    /** The run was stopped before the agent responded. */
    ERR_RUN_STOPPED: Record<string, never>;
    /** The gateway is shutting down and accepts no new runs. */
    ERR_RUN_DRAINING: Record<string, never>;
    /** The policy blocks the request. */
    ERR_INBOUND_BLOCKED: RefusedPart & { rule: string; receipt: string };
  }
}
