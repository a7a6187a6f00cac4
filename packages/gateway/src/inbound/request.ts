import type { JsonObject, JsonValue, Limits } from "@countersign/core";
import type {
  CompiledPolicy,
  Decision,
  Denial,
  EventFacts,
  MatchedRequest,
} from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import type { Dialect, Envelope } from "@countersign/wire/dialects";
import type { ReceiptTransport } from "../event/sink.js";
import type { ClientIdentity } from "../event/client-identity.js";
import type { SharedCaps } from "../event/run.js";
import type { DecisionResult, DecisionRequest } from "../event/judge.js";
import type { Clock, MintId } from "../base/ports.js";
import type { Recorder } from "../event/recorder.js";
import type { Finding } from "./finding.js";
import type { SendBlocker } from "./send-blocker.js";
import type { LookupHost } from "./source-lookup.js";

/** The result of comparing an input with its thread. */
export type ThreadReview = {
  readonly findings: readonly Finding[];
  /** The keys of the state that the client changed; if absent, all of them. */
  readonly writtenKeys?: readonly string[] | undefined;
  /** Clicks and requests of apps in the input, compared with what the thread was shown. */
  readonly surfaceRequests?: readonly MatchedRequest[];
};

/** The run that an input opens. Admission calls these steps in this order. */
export type RunOpening = {
  /** Lists the run in its session; throws if a run of this id is open there. */
  enter(input: RunAgentInput): void;
  /** Locks the thread and compares the input with it. */
  review(input: RunAgentInput): Promise<ThreadReview>;
  /** Claims thread and run id of an allowed input, and writes its content. Returns what another request claimed first. */
  claim(): Promise<Finding | undefined>;
  /** Opens the connection to the agent for this body, and sends nothing. */
  connect(body: string): void;
};

/** One request from a browser, with everything that the steps of admission find out about it. */
export type InboundRequest = {
  /** `input` starts a run; `message` is an envelope from a browser on a socket. */
  readonly kind: "input" | "message";
  readonly agent: string;
  readonly agentDialect: Dialect | "auto";
  readonly sessionId: string;
  /** The client in receipts, lists and log lines. */
  readonly client: ClientIdentity;
  readonly transport: ReceiptTransport;
  readonly receivedAt: number;
  readonly policy: CompiledPolicy;
  readonly judge: (request: DecisionRequest) => DecisionResult;
  readonly recorder: Recorder;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly mintId: MintId;
  /** Returns why a message cannot be sent to the agent at the time of the decision. */
  readonly blocker?: (() => SendBlocker | undefined) | undefined;
  /** The run that an input opens. */
  readonly opening?: RunOpening | undefined;
  /** Reserves an event of the tokens that may apply, before the decision; `isFirst` may wait for other gateways. */
  readonly reserve?:
    | ((presented: JsonValue | undefined, isFirst: boolean) => Promise<void> | undefined)
    | undefined;
  /** Rate caps that several gateways count together. */
  readonly caps?: SharedCaps | undefined;
  /** Resolves host names of content parts, if the policy asks for it. Without it no host is public. */
  readonly lookupHost?: LookupHost | undefined;
  /** The run suggests what to say next; see {@link Upstream.isSuggestion}. */
  readonly isSuggestion?: boolean | undefined;
  /** Called when the receipt of the decision is durable. */
  readonly recorded?: ((request: InboundRequest) => void) | undefined;
  /** Before decode: the body or frame. */
  readonly bytes: Uint8Array | string;
  /** After decode. */
  value?: JsonValue;
  /** After translate: a message from a browser on a socket. */
  message?: { readonly envelope: Partial<Envelope>; readonly capability?: JsonValue };
  /** After translate: the JSON Pointer of the first content part that AG-UI 1.0 cannot express. */
  lostPart?: string;
  /** After the check of keys: the gateway removes parts that AG-UI does not define. */
  isStripped?: true;
  /** After the check of keys: the body with those parts, for the agent, if the policy observes. */
  unstrippedBody?: JsonObject;
  /** After enforce: the input that the policy judges. */
  input?: RunAgentInput;
  /** After the review: the keys of the state that the client changed; if absent, all of them. */
  writtenKeys?: readonly string[] | undefined;
  /** After the review: clicks and requests of MCP Apps, compared with what the thread was shown. */
  surfaceRequests?: readonly MatchedRequest[];
  /** Before decide: hosts of content parts that resolve to public addresses. */
  publicHosts?: ReadonlySet<string>;
  /** After classify. */
  facts?: EventFacts;
  /** After decide. */
  decision?: Decision;
  /** After decide: the policy's denial in observe mode. */
  policyWouldBlock?: Denial;
  /** After decide: the token that the decision considered. */
  capabilityId?: string;
  /** After record. */
  receiptId?: string;
  /** After record: its place in the log. */
  seq?: number;
  /** At the end of admission: the serialised body for the agent. */
  body?: string;
};

/** Returns the parsed input; throws if enforce has not run, which is a defect of the gateway. */
export function assertInput(request: InboundRequest): RunAgentInput {
  if (request.input === undefined) throw new TypeError("the request was not parsed yet");
  return request.input;
}
