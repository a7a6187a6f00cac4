import type { JsonObject, JsonValue } from "@countersign/core";
import type { Role } from "@countersign/wire";
import type { RequestKind } from "../frames/interrupts.js";

/** An open interrupt of the runtime, as the server stores it; a client cannot create one. */
export type ResumeBinding = {
  readonly interruptId: string;
  readonly runId: number;
  readonly turn: { readonly id: number; readonly index: number };
  readonly gateRef: string;
  /** The server's reference for the decision; never the client's. */
  readonly decisionRef: string;
  readonly requestKind: RequestKind;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
};

/** The answer to one interrupt, in the runtime's format. */
export type ResumeDecision = {
  readonly runId: number;
  readonly turn: { readonly id: number; readonly index: number };
  readonly interruptId: string;
  readonly gateRef: string;
  readonly decisionRef: string;
  readonly resume: JsonObject;
};

/** Members that only the server sets; a client's input never does. */
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
  /** A decision made on the server; an input that also answers conflicts with it. */
  readonly resume?: readonly ResumeDecision[];
};

/** The parts of an input that may reach the runtime. */
export type LoweringPolicy = {
  readonly defaults?: SubmitDefaults;
  /** Roles a client may use. Default: `user` only, because history can be forged. */
  readonly roles?: readonly Role[];
  /** Allowed members of `forwardedProps`. Default: none. */
  readonly forwardedProps?: readonly string[];
  /** Allowed members of `state`. Default: none. */
  readonly state?: readonly string[];
  /** Whether context entries are used. Default: no. */
  readonly context?: boolean;
  /** Allowed client tools. Default: all, as names only; they never become tools of the server. */
  readonly clientTools?: readonly string[];
  /** Whether this client may use this thread. Default: any. */
  readonly ownsThread?: (threadId: string) => boolean;
  /** Interrupts that are open on the thread. */
  readonly bindings?: readonly ResumeBinding[];
  /** The current time in milliseconds; needed if bindings expire. */
  readonly now?: number;
  readonly limits?: Partial<LoweringLimits>;
};

/** Limits of one input. */
export type LoweringLimits = {
  /** Bytes of the body. */
  readonly maxBodyBytes: number;
  readonly maxMessages: number;
  /** Characters of the user's text. */
  readonly maxIntent: number;
  /** Characters of JSON, each. */
  readonly maxState: number;
  readonly maxContext: number;
  readonly maxForwardedProps: number;
};

/** The limits used when the policy sets none. */
export const DEFAULT_LOWERING_LIMITS: LoweringLimits = {
  maxBodyBytes: 1024 * 1024,
  maxMessages: 1000,
  maxIntent: 100_000,
  maxState: 64 * 1024,
  maxContext: 64 * 1024,
  maxForwardedProps: 16 * 1024,
};
