import "@countersign/core";

/** Which part of a request is refused, and what helps, where that is known. */
export type RefusedPart = {
  /** A JSON Pointer into the request. */
  readonly pointer?: string;
  readonly remedy?: string;
};

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A request has a key that AG-UI does not define. */
    ERR_INBOUND_UNKNOWN_KEY: RefusedPart;
    /** A message on a socket without a run that could take it. */
    ERR_MESSAGE_NO_RUN: RefusedPart;
    /** A message to an agent whose transport takes none. */
    ERR_MESSAGE_ONE_WAY: RefusedPart;
    /** A thread belongs to somebody else. */
    ERR_THREAD_OWNER: RefusedPart;
    /** A message that the gateway never delivered, in a role that is not the client's. */
    ERR_HISTORY_INVENTED: RefusedPart;
    /** A message that was delivered or accepted, with other words. */
    ERR_HISTORY_REWRITTEN: RefusedPart;
    /** A message of the history is missing, or the history has another order. */
    ERR_HISTORY_DROPPED: RefusedPart;
    /** A message whose end nobody saw, because the gateway was killed. */
    ERR_HISTORY_UNFINISHED: RefusedPart;
    /** A new message in front of one that was delivered before. */
    ERR_HISTORY_INTERLEAVED: RefusedPart;
    /** An answer to a call that was not delivered on this thread. */
    ERR_TOOL_RESULT_UNKNOWN: RefusedPart;
    /** A second answer to one call. */
    ERR_TOOL_RESULT_TWICE: RefusedPart;
    /** An answer to a call of a tool that is not the client's. */
    ERR_TOOL_RESULT_FOREIGN: RefusedPart;
    /** An answer to an interrupt that is not open on this thread. */
    ERR_RESUME_UNKNOWN: RefusedPart;
    /** Not every open interrupt is answered. */
    ERR_RESUME_INCOMPLETE: RefusedPart & { open: readonly string[] };
    /** The interrupt's time is over. */
    ERR_RESUME_EXPIRED: RefusedPart;
    /** The answer does not fit the interrupt's schema. */
    ERR_RESUME_MISMATCH: RefusedPart;
    /** The interrupt was answered before, and differently. */
    ERR_RESUME_ANSWERED: RefusedPart;
    /** A declared tool whose name is not plain ASCII, too long or there twice. */
    ERR_TOOLS_NAME: RefusedPart;
    /** A declared tool takes the name of one of the agent's own. */
    ERR_TOOLS_SHADOWED: RefusedPart;
    /** A declared tool is not in the pinned manifest, or differs from it. */
    ERR_TOOLS_UNPINNED: RefusedPart;
    /** The state is too large or has keys it may not have. */
    ERR_STATE_REFUSED: RefusedPart;
    /** The context is too large or has entries it may not have. */
    ERR_CONTEXT_REFUSED: RefusedPart;
    /** The forwarded properties are too large or have keys they may not have. */
    ERR_FORWARDED_PROPS_REFUSED: RefusedPart;
    /** A client asked for a run under an id that was used before. */
    ERR_RUN_ID_REUSED: RefusedPart;
    /** A client asked for a run on a thread whose last run is still open. */
    ERR_RUN_ACTIVE: RefusedPart;
    /** The run was stopped before the agent had answered. */
    ERR_RUN_STOPPED: Record<string, never>;
    /** The gateway is stopping and takes no new runs. */
    ERR_RUN_DRAINING: Record<string, never>;
    /** The policy does not let a browser's request up. */
    ERR_INBOUND_BLOCKED: RefusedPart & { rule: string; receipt: string };
  }
}
