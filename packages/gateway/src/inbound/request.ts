import type { JsonObject, JsonValue, Limits } from "@countersign/core";
import type { CompiledPolicy, Decision, Denial, EventFacts } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import type { Dialect, Envelope } from "@countersign/wire/dialects";
import type { ReceiptTransport } from "../event/sink.js";
import type { SharedCaps } from "../event/reservations.js";
import type { DecisionResult, DecisionRequest } from "../event/judge.js";
import type { Clock, MintId } from "../base/ports.js";
import type { Recorder } from "../event/recorder.js";
import type { Finding } from "./finding.js";
import type { SendBlocker } from "./send-blocker.js";
import type { LookupHost } from "./source-lookup.js";

/** One request of a browser on its way to the agent; each stage fills in what it finds out. */
export type InboundRequest = {
  /** `input` asks for a run; `message` is an envelope that a browser sends on a socket. */
  readonly kind: "input" | "message";
  readonly agent: string;
  readonly agentDialect: Dialect | "auto";
  readonly sessionId: string;
  readonly transport: ReceiptTransport;
  readonly receivedAt: number;
  readonly policy: CompiledPolicy;
  readonly judge: (question: DecisionRequest) => DecisionResult;
  readonly recorder: Recorder;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly mintId: MintId;
  /** Why a message cannot go up at the moment it is decided about. */
  readonly blocker?: (() => SendBlocker | undefined) | undefined;
  /** Throws when the input's thread has a run open, or its run id was used before. */
  readonly assertNewRun: (input: RunAgentInput) => void;
  /** Holds the input against its thread; only where a run is asked for. */
  readonly review?: ((input: RunAgentInput) => Promise<readonly Finding[]>) | undefined;
  /**
   * Makes the input's thread its sender's, when nothing else speaks against it; what somebody else was faster
   * with is found before the receipt.
   */
  readonly claim?: (() => Promise<Finding | undefined>) | undefined;
  /** Sees to it that an event of the tokens that may count is at hand, before it is decided about. */
  readonly reserve?: ((presented: JsonValue | undefined) => Promise<void> | undefined) | undefined;
  /** Caps that other gateways count too, where there are such. */
  readonly caps?: SharedCaps | undefined;
  /** Asked about names of content parts, where the policy has them resolved; without it no name is public. */
  readonly lookupHost?: LookupHost | undefined;
  /** Told when the decision about it is on record. */
  readonly recorded?: ((request: InboundRequest) => void) | undefined;
  /** Before decode: the body or frame as it came. */
  readonly bytes: Uint8Array | string;
  /** After decode. */
  value?: JsonValue;
  /** After translate: what a browser says on a socket. */
  message?: { readonly envelope: Partial<Envelope>; readonly capability?: JsonValue };
  /** After translate: where the first content part stood that has no form in AG-UI 1.0. */
  lostPart?: string;
  /** After translate: the gateway removes parts that AG-UI does not define. */
  isStripped?: true;
  /** After translate: what the agent gets where such parts stay, because the policy observes. */
  sentAsItCame?: JsonObject;
  /** After enforce: what is judged. */
  input?: RunAgentInput;
  /** After the review: keys of its state that are not what its client was left with; absent, all of it is new. */
  writtenKeys?: readonly string[] | undefined;
  /** Before decide: hosts of its content parts that were resolved and lead outside. */
  publicHosts?: ReadonlySet<string>;
  /** After classify. */
  facts?: EventFacts;
  /** After decide. */
  decision?: Decision;
  /** After decide: what the policy would have blocked it for, had it done more than observe. */
  policyRemark?: Denial;
  /** After decide: the token that was considered. */
  capabilityId?: string;
  /** After record. */
  receiptId?: string;
  /** After record: its place in the log. */
  seq?: number;
  /** After deliver: the text that goes to the agent, serialised here. */
  body?: string;
};

/** The parsed input; a stage that asks before enforce has run is a defect of ours. */
export function assertInput(request: InboundRequest): RunAgentInput {
  if (request.input === undefined) throw new TypeError("the request was not parsed yet");
  return request.input;
}
