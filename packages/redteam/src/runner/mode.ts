import type { JsonObject, JsonValue } from "@countersign/core";
import type { Direction, NormalizedActor, NormalizedPhase } from "../oatf/index.js";
import type { ActorContext } from "./actor-context.js";
import type { Gap } from "./gap.js";

/** The services of the phase engine for the mode that it drives. */
export type Stage = {
  readonly actor: NormalizedActor;
  readonly context: ActorContext;
  readonly phase: NormalizedPhase | undefined;
  /** Phases that were entered so far. */
  readonly enteredPhases: readonly NormalizedPhase[];
  readonly isDone: boolean;
  readonly lastRequest: JsonValue | undefined;
  /** The state in force: of this phase, or of the last one before it that has its own. */
  effectiveState(): JsonObject;
  /** Does one thing and then what follows from it. Nothing that a document or a peer does may throw further. */
  guard(work: () => void): void;
  /** Keeps a message in the trace; `false` when the trace is full. */
  record(direction: Direction, event: string, content: JsonValue, raw?: JsonValue): boolean;
  /** Lets the extractors of the phase see a message. */
  observe(direction: Direction, content: JsonValue): void;
  /** Lets the trigger of the phase see a message. */
  offer(event: string, content: JsonValue): void;
  /** Fills the templates of something that is sent; one without a value leaves a hole in the attack. */
  fill<Value extends JsonValue>(value: Value): Value;
  missed(kind: Gap["kind"], message: string): void;
  /** Ends the actor because of a failure. */
  fail(error: unknown): void;
};

/** The part of an actor that speaks a protocol. The phase engine does the rest. */
export type Mode = {
  /** Conversations that the actor started. */
  readonly runs: number;
  /** Whether something is under way that can bring an event. A server is busy until it is told to finish. */
  isBusy(): boolean;
  /** Starts to listen, for a server. */
  listen?(): Promise<void>;
  /** Performs the state of a phase that has its own. */
  enter(state: JsonObject): void;
  /** Performs the entry action `send`. */
  send(method: string, params: JsonValue): void;
  /** Performs an entry action of the binding; `false` when it has no such action. */
  act?(name: string, value: JsonValue): boolean;
  /** Tells what of the entered phases was not delivered. */
  ended(): void;
  close(): void;
};

/** Creates the mode of an actor. */
export type ModeFactory = (stage: Stage) => Mode;

/** The protocol of the actors whose own requests the evaluation knows by their name. */
export const AG_UI = "ag_ui";

/** Whether an actor waits for the agent rather than starting the conversation. */
export function isServer(mode: string): boolean {
  return mode.endsWith("_server");
}

/** The direction of what an actor itself sends. */
export function ownDirection(mode: string): Direction {
  return isServer(mode) ? "response" : "request";
}
