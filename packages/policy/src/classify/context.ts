import type { JsonValue } from "@countersign/core";
import type { MessagesSnapshotEvent } from "@countersign/wire";
import type { Classification } from "../vocabulary/classification.js";
import type { Target } from "../vocabulary/target.js";
import type { Refinements } from "./refinement.js";

/** The context of the event; every part is optional, and absence is the stricter case. */
export type ClassifyContext = {
  /** The policy's additions to the table. */
  readonly refinements?: Refinements;
  /** The client's tools, by name. */
  readonly clientTools?: { has(name: string): boolean };
  /** The tool name of each call, by call id. */
  readonly toolNames?: ReadonlyMap<string, string>;
  /** The complete argument text of a call. */
  readonly toolArguments?: ReadonlyMap<string, string>;
  /** The state and the activities of the client; absent, its state is unknown. */
  readonly client?: ClientView;
  /** The class and target that the event claims. */
  readonly claim?: Claim;
};

/** The client's state, as far as an event can remove it. */
export type ClientView = {
  /** The shared state; undefined when unknown. */
  readonly state: JsonValue | undefined;
  /**
   * The client could not send its state, and has the one above only if its page was just opened.
   */
  readonly isStateAssumed?: boolean;
  /** An activity on the screen. */
  activity(messageId: string): HeldActivity | undefined;
  /** Types of the activities that a message list removes; undefined is one of unknown type. */
  droppedBy(event: MessagesSnapshotEvent): ReadonlySet<string | undefined>;
  /**
   * Whether a message list repeats the client's messages and only adds after them; false when
   * unknown.
   */
  keepsMessages(event: MessagesSnapshotEvent): boolean;
};

/** An activity on the screen; its type and its content are undefined when unknown. */
export type HeldActivity = {
  readonly type: string | undefined;
  readonly content: JsonValue | undefined;
};

/** The class and target that an event claims. */
export type Claim = { readonly classification?: Classification; readonly target?: Target };
