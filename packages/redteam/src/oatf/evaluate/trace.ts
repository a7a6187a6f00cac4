import type { JsonValue } from "@countersign/core";
import type { Direction } from "../model/document.js";

/** One message of a run, as indicators see it. */
export type TraceEntry = {
  /** Position in the trace, from 0. */
  readonly seq: number;
  readonly timestamp?: string;
  /** `ag_ui` for everything an AG-UI actor sends or receives. */
  readonly protocol: string;
  readonly actor: string;
  readonly phase?: string;
  readonly direction: Direction;
  /** The OATF name: `run_agent_input`, or the event type in lower case. */
  readonly event: string;
  /** The value for predicates, targets and CEL; enriched where the binding says so. */
  readonly content: JsonValue;
  /** The value on the wire, when it differs. */
  readonly raw?: JsonValue;
};
