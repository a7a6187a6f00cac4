import type { JsonValue } from "@countersign/core";
import type { Direction } from "../model/document.js";

/** One message of a run, as indicators see it. */
export type TraceEntry = {
  /** Position in the trace, from 0. */
  readonly seq: number;
  readonly timestamp?: string;
  /** The protocol of the actor that sent or received it: `ag_ui`, `mcp`, `a2a`. */
  readonly protocol: string;
  readonly actor: string;
  readonly phase?: string;
  readonly direction: Direction;
  /** The OATF name: `run_agent_input`, the event type in lower case, or the name of the method. */
  readonly event: string;
  /** The value for predicates, targets and CEL; enriched where the binding says so. */
  readonly content: JsonValue;
  /** The value on the wire, when it differs. */
  readonly raw?: JsonValue;
  /** The actor itself sent it. For an AG-UI actor the direction and the event say so. */
  readonly isOwn?: boolean;
};
