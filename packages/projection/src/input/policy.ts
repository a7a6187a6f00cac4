import type { JsonObject, JsonValue } from "@countersign/core";
import type { Role } from "@countersign/wire";
import type { RequestKind } from "../frames/interrupts.js";

/** An open question of the runtime's, as the server remembers it; a client cannot make one up. */
export type ResumeBinding = {
  readonly interruptId: string;
  readonly runId: number;
  readonly turn: { readonly id: number; readonly index: number };
  readonly gateRef: string;
  /** The server's name for the decision; never the client's. */
  readonly decisionRef: string;
  readonly requestKind: RequestKind;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
};

/** The answer to one question, in the runtime's terms. */
export type ResumeDecision = {
  readonly runId: number;
  readonly turn: { readonly id: number; readonly index: number };
  readonly interruptId: string;
  readonly gateRef: string;
  readonly decisionRef: string;
  readonly resume: JsonObject;
};

/** What only the server decides; a client's input never sets these. */
export type SubmitDefaults = {
  readonly system?: string;
  readonly budget?: JsonValue;
  readonly outputSchema?: JsonValue;
  readonly traceContext?: JsonValue;
  readonly materials?: JsonValue;
  readonly toolContext?: JsonValue;
  readonly toolPolicy?: JsonValue;
  readonly decisionInterrupts?: JsonValue;
  readonly context?: JsonObject;
  /** A decision made on the server; an input that answers as well is in conflict with it. */
  readonly resume?: readonly ResumeDecision[];
};

/** What of an input may reach the runtime. */
export type LoweringPolicy = {
  readonly defaults?: SubmitDefaults;
  /** Roles a client may speak in. Default: `user` alone, because history can be forged. */
  readonly roles?: readonly Role[];
  /** Members of `forwardedProps` to take. Default: none. */
  readonly forwardedProps?: readonly string[];
  /** Members of `state` to take. Default: none. */
  readonly state?: readonly string[];
  /** Whether context entries are taken. Default: no. */
  readonly context?: boolean;
  /** Names of client tools to take. Default: all, as names only; they never become tools of the server. */
  readonly clientTools?: readonly string[];
  /** Whether this client may use this thread. Default: any. */
  readonly ownsThread?: (threadId: string) => boolean;
  /** Questions that are open on the thread. */
  readonly bindings?: readonly ResumeBinding[];
  /** Now, in milliseconds; needed where bindings expire. */
  readonly now?: number;
  readonly limits?: Partial<LoweringLimits>;
};

/** Bounds of one input. */
export type LoweringLimits = {
  /** Bytes of the body. */
  readonly maxBodyBytes: number;
  readonly maxMessages: number;
  /** Characters of what the person asks. */
  readonly maxIntent: number;
  /** Characters of JSON, each. */
  readonly maxState: number;
  readonly maxContext: number;
  readonly maxForwardedProps: number;
};

/** The bounds where the policy sets none. */
export const DEFAULT_LOWERING_LIMITS: LoweringLimits = {
  maxBodyBytes: 1024 * 1024,
  maxMessages: 1000,
  maxIntent: 100_000,
  maxState: 64 * 1024,
  maxContext: 64 * 1024,
  maxForwardedProps: 16 * 1024,
};
