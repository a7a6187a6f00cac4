import type { NoteSink } from "../note.js";

/** The options of translating one 0.0 value, and the sink for its notes. */
export type LegacyContext = {
  /** Counted from 1; 0 for a request body. */
  eventNumber: number;
  note: NoteSink;
  /**
   * False on a stream that declares 1.0: then only the shims that 1.0 itself keeps apply (thinking
   * events, eight nulls, binary parts), because there everything else is malformed, not old.
   */
  lenient: boolean;
};
