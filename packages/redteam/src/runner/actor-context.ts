import type { CountersignError } from "@countersign/core";
import type { Channel, Refusal } from "./channel.js";
import type { Gap } from "./gap.js";
import type { RunnerLimits, RunnerTimeouts, ServerAddresses } from "./options.js";
import type { TraceRecorder } from "./trace-recorder.js";
import type { ActorVariables } from "./variables.js";

/** Something the reader of a report should know. */
export type RunnerNote = { readonly code: string; readonly message: string };

/** The state that all actors of an execution share. */
export type ActorContext = {
  readonly recorder: TraceRecorder;
  readonly variables: ActorVariables;
  readonly channel: Channel;
  readonly limits: RunnerLimits;
  readonly timeouts: RunnerTimeouts;
  /** The addresses on which the servers of this execution listen. */
  readonly addresses: ServerAddresses;
  /** The member of `forwardedProps` that tells the agent these addresses. */
  readonly addressesIn: string | undefined;
  /** The addresses on which the agent under test is a server. */
  readonly endpoints: { readonly mcp?: string; readonly a2a?: string };
  readonly headers: Readonly<Record<string, string>>;
  /** Protocols that an indicator looks at. */
  readonly watched: ReadonlySet<string>;
  /** The port for the next server of a protocol; 0 is a free one. */
  nextPort(protocol: "mcp" | "a2a"): number;
  readonly strict: boolean;
  /** The target answers harmless requests, so that a refusal is an answer. */
  readonly refusalsCount: boolean;
  /** The ids of the document are part of its attack. */
  readonly idsAsWritten: boolean;
  /** The form of every request of the document is its attack. */
  readonly formIsAttack: boolean;
  /** Threads that the actors of this execution have used. */
  readonly threads: Set<string>;
  note(note: RunnerNote): void;
  /** Takes what the document asks for and what did not happen. */
  missed(gap: Gap): void;
  failed(error: CountersignError, place: string): void;
  refused(refusal: Refusal): void;
};
