import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { addRequests, classifyEnvelope, classifyInput, sourceHostsOf } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import { locateRefusedPart } from "./locate-refused-part.js";
import { permitWithObserved, wouldBlockRulesOf } from "../outbound/decide/denial.js";
import { denialOf, errorOf, isFindingDenial, ruleOf, sortFindings } from "./finding.js";
import type { Finding } from "./finding.js";
import { blockerDenial, blockerError } from "./send-blocker.js";
import { checkKeys, decodeRequest, enforceRequest, translateRequest } from "./read-request.js";
import { recordRequest } from "./record-request.js";
import { attachReceipt } from "./refusal-log.js";
import { assertInput } from "./request.js";
import type { InboundRequest } from "./request.js";
import { withoutToolChoice } from "./suggestion.js";
import { findPublicHosts } from "./source-lookup.js";
import { completeInput, downgradeInput } from "@countersign/wire/dialects";

/**
 * Admits a request from a browser: this list is every step. Findings of the gateway come before the decision of the policy.
 *
 * @throws CountersignError with the code that refuses the request; otherwise `request.body` is ready for the agent.
 */
export async function admitRequest(request: InboundRequest): Promise<void> {
  const findings: Finding[] = [];
  const raw = decodeRequest(request);
  translateRequest(request);
  if (request.kind === "input") {
    findings.push(...checkKeys(request, raw));
    const input = enforceRequest(request);
    findings.push(...(await reviewThread(request, input)));
  }
  classifyRequest(request);
  await resolveSources(request);
  await afterReserving(request, () => decideRequest(request));
  const refusal =
    request.kind === "input" ? await recordInput(request, findings) : await recordMessage(request);
  assertAllowed(request, refusal);
  request.body ??= JSON.stringify(agentBody(request));
}

/** Lists the run in its session and reviews the input against its thread. */
async function reviewThread(
  request: InboundRequest,
  input: RunAgentInput,
): Promise<readonly Finding[]> {
  const { opening } = request;
  if (opening === undefined) return [];
  opening.enter(input);
  const {
    findings,
    writtenKeys,
    surfaceRequests = [],
  } = await opening.review(reviewedInput(request, input));
  request.writtenKeys = writtenKeys;
  request.surfaceRequests = surfaceRequests;
  return findings;
}

/** The input without the parts that its route always has. The agent gets them. */
function reviewedInput({ isSuggestion }: InboundRequest, input: RunAgentInput): RunAgentInput {
  return isSuggestion === true ? withoutToolChoice(input) : input;
}

function classifyRequest(request: InboundRequest): void {
  const { message, writtenKeys, surfaceRequests = [], policy } = request;
  const { refinements } = policy;
  request.facts =
    message === undefined
      ? addRequests(
          classifyInput(reviewedInput(request, assertInput(request)), {
            refinements,
            writtenKeys,
          }),
          surfaceRequests,
          refinements,
        )
      : classifyEnvelope(message.envelope as JsonObject, "inbound", refinements);
}

/** Resolves the hosts of content parts beforehand: the decision does no I/O. */
async function resolveSources(request: InboundRequest): Promise<void> {
  const { input, policy, lookupHost } = request;
  if (input === undefined || lookupHost === undefined) return;
  if (policy.content?.resolvesSources !== true) return;
  const hosts = sourceHostsOf(input as unknown as JsonObject);
  request.publicHosts = await findPublicHosts(hosts, lookupHost);
}

/**
 * Decides once the token and the shared caps have an event left. Another request can use that event first, so this one
 * asks again and decides in the same turn. Only the first wait is also for events that other gateways may return.
 */
export async function afterReserving<T>(
  { reserve, caps, facts, message }: Pick<InboundRequest, "reserve" | "caps" | "facts" | "message">,
  decide: () => T,
): Promise<T> {
  for (let isFirst = true; ; isFirst = false) {
    const budget = reserve?.(message?.capability, isFirst);
    const room = caps?.reserve(facts, 1);
    if (budget === undefined && room === undefined) return decide();
    await Promise.all([budget, room]);
  }
}

function decideRequest(request: InboundRequest): void {
  const { facts, message, publicHosts, surfaceRequests } = request;
  if (facts === undefined) throw new TypeError("the request was not classified yet");
  const event = message === undefined ? assertInput(request) : message.envelope;
  const { decision, capability } = request.judge({
    facts,
    presented: message?.capability,
    publicHosts,
    requests: surfaceRequests,
    event: event as unknown as JsonObject,
  });
  request.decision = decision;
  if (capability !== undefined) request.capabilityId = capability.id;
}

/**
 * Applies the findings and records the decision; returns the error of the finding that refuses the input.
 *
 * The ledger claims the thread of an allowed input while the log writes the receipt: the agent gets the input after
 * both. Another principal may claim the thread first. The log is append-only, so a second receipt says it.
 */
async function recordInput(
  request: InboundRequest,
  findings: Finding[],
): Promise<CountersignError | undefined> {
  applyFindings(request, findings);
  const isAllowed = request.decision?.allow === true;
  const waits = [
    isAllowed ? request.opening?.claim() : undefined,
    recordRequest(request),
    isAllowed ? connectAgent(request) : undefined,
  ] as const;
  // All end before the failure of one: the ledger undoes what was written.
  await Promise.allSettled(waits);
  const [late] = await Promise.all(waits);
  if (late !== undefined) {
    findings.push(late);
    applyFindings(request, findings);
    withdrawReceipt(request);
    await recordRequest(request);
  }
  const { refusing } = sortFindings(findings, request.policy);
  return refusing === undefined ? undefined : errorOf(refusing);
}

/** Opens the connection to the agent while ledger and log write. */
async function connectAgent(request: InboundRequest): Promise<void> {
  request.body = JSON.stringify(agentBody(request));
  request.opening?.connect(request.body);
}

/** Names the first receipt of a request in the denial that overrides it. */
function withdrawReceipt(request: InboundRequest): void {
  const { decision, receiptId } = request;
  if (decision?.allow !== false) return;
  request.decision = { ...decision, reason: `${decision.reason}; ${receiptId} was not sent up` };
}

async function recordMessage(request: InboundRequest): Promise<CountersignError | undefined> {
  const refusal = denyIfUnsendable(request);
  await recordRequest(request);
  return refusal;
}

/** A finding overrides the decision of a policy, also where both only observe. */
function applyFindings(request: InboundRequest, findings: readonly Finding[]): void {
  const { refusing, violations, reported } = sortFindings(findings, request.policy);
  if (refusing !== undefined) request.decision = denialOf(refusing);
  if (request.decision?.allow !== true) return;
  const { observed } = request.decision;
  if (observed !== undefined && !isFindingDenial(observed)) request.policyWouldBlock = observed;
  // The receipt names the rule that would block in enforce mode: a finding comes first there too.
  const [first] = [...violations.map(denialOf), observed ?? [], ...reported.map(denialOf)].flat();
  if (first === undefined) return;
  const rules = [
    ...violations.map(ruleOf),
    ...wouldBlockRulesOf(request.decision),
    ...reported.map(ruleOf),
  ];
  request.decision = permitWithObserved(first, rules);
}

/** Denies an allowed message that no agent can receive now; returns the error for its sender. */
function denyIfUnsendable(request: InboundRequest): CountersignError | undefined {
  if (request.decision?.allow !== true) return undefined;
  const blocker = request.blocker?.();
  if (blocker === undefined) return undefined;
  request.decision = blockerDenial(blocker);
  return blockerError(blocker);
}

/** Throws after the decision is on record: an error of our own keeps its code, a denial of the policy names its rule. */
function assertAllowed(request: InboundRequest, refusal: CountersignError | undefined): void {
  const { decision, receiptId } = request;
  if (refusal !== undefined) {
    if (receiptId !== undefined) attachReceipt(refusal, receiptId);
    throw refusal;
  }
  if (decision?.allow === true) return;
  throw new CountersignError("ERR_INBOUND_BLOCKED", decision?.reason ?? "undecided", {
    rule: decision?.rule ?? "undecided",
    receipt: receiptId ?? "",
    ...(decision === undefined ? {} : locateRefusedPart(request, decision)),
  });
}

/** The body for the agent, in the dialect that the agent is configured for. */
export function agentBody(request: InboundRequest): object {
  const { message, agentDialect } = request;
  if (message !== undefined) {
    return {
      event_id: request.mintId("event"),
      timestamp: Math.floor(request.receivedAt / 1000),
      ...message.envelope,
      // The connection determines both values; the message cannot change them.
      agent_id: request.agent,
      session_id: request.sessionId,
    };
  }
  const input = assertInput(request);
  if (agentDialect === "0.0") return downgradeInput(input, "0.0.55").body;
  if (agentDialect === "0.1.0") return downgradeInput(input, "0.1.0").body;
  const sent = (request.unstrippedBody as RunAgentInput | undefined) ?? input;
  // An agent of unknown version may be of the 0.0 line, whose frameworks fail without these members.
  return agentDialect === "auto" ? completeInput(sent) : sent;
}
