import type { Classification } from "../vocabulary/classification.js";
import type { Target } from "../vocabulary/target.js";
import type { Refinements } from "./refinement.js";

/** What the gateway knows beside the event itself; every part is optional and its absence is the stricter case. */
export type ClassifyContext = {
  /** The policy's additions to the table. */
  readonly refinements?: Refinements;
  /** Names of the tools the client advertised in this run. */
  readonly clientTools?: ReadonlySet<string>;
  /** The name under which a tool call was opened, by call id. */
  readonly toolNames?: ReadonlyMap<string, string>;
  /** The whole text of a call's arguments, once it is complete. */
  readonly toolArguments?: ReadonlyMap<string, string>;
  /** A class and a target that arrived with the event. */
  readonly claim?: Claim;
};

/** What an event says about itself. */
export type Claim = { readonly classification?: Classification; readonly target?: Target };
