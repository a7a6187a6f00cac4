import type { JsonValue } from "@countersign/core";
import type { MessagesSnapshotEvent } from "@countersign/wire";
import type { Classification } from "../vocabulary/classification.js";
import type { Target } from "../vocabulary/target.js";
import type { Refinements } from "./refinement.js";

/** What the gateway knows beside the event itself; every part is optional and its absence is the stricter case. */
export type ClassifyContext = {
  /** The policy's additions to the table. */
  readonly refinements?: Refinements;
  /** Says by their names which tools are the client's. */
  readonly clientTools?: { has(name: string): boolean };
  /** The name under which a tool call was opened, by call id. */
  readonly toolNames?: ReadonlyMap<string, string>;
  /** The whole text of a call's arguments, once it is complete. */
  readonly toolArguments?: ReadonlyMap<string, string>;
  /** The state and the activities the client has; absent, nothing is known of its state. */
  readonly client?: ClientView;
  /** A class and a target that arrived with the event. */
  readonly claim?: Claim;
};

/** What a client has, as far as an event can take it away. */
export type ClientView = {
  /** The shared state; undefined where it is unknown. */
  readonly state: JsonValue | undefined;
  /** The client could not send its state, and has the one above only if its page was just opened. */
  readonly isStateAssumed?: boolean;
  /** An activity on the screen. */
  activity(messageId: string): HeldActivity | undefined;
  /** Types of the activities that a message list takes away; undefined is one of unknown type. */
  droppedBy(event: MessagesSnapshotEvent): ReadonlySet<string | undefined>;
  /** Whether a message list repeats what the client has and only adds behind it; false where that is unknown. */
  keepsMessages(event: MessagesSnapshotEvent): boolean;
};

/** An activity on the screen; its type and its content are undefined where they are unknown. */
export type HeldActivity = {
  readonly type: string | undefined;
  readonly content: JsonValue | undefined;
};

/** What an event says about itself. */
export type Claim = { readonly classification?: Classification; readonly target?: Target };
