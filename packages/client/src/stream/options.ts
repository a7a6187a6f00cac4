import type { JsonObject, Limits } from "@countersign/core";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import type { MintId } from "../base/ids.js";

/** Reads an agent that does not speak AG-UI 1.0; see `@countersign/client/dialects`. */
export type DialectReader = {
  /** The input in the form that the agent reads. */
  body(input: RunAgentInput): JsonObject;
  /** A translator for one stream: each value becomes events in the form of 1.0. */
  open(input: RunAgentInput, mintId: MintId): (value: JsonObject) => readonly JsonObject[];
};

/** Judges the order of one stream, and throws on the first error; see `@countersign/client/order`. */
export type OrderCheck = (input: RunAgentInput) => (event: AgUiEvent) => void;

/** How a stream is read. */
export type ReadOptions = {
  readonly dialect?: DialectReader;
  readonly order?: OrderCheck;
  readonly limits?: Partial<Limits>;
  /** Fails a run whose finish names another run id than its start; otherwise `onNotes` receives a note. */
  readonly strict?: boolean;
};
