import type { JsonObject, JsonValue } from "@countersign/core";
import { sourceHostsOf } from "@countersign/policy";
import { STAGES } from "../pipeline/pipeline.js";
import {
  denialOf,
  errorOf,
  isFound,
  permitNoting,
  ruleOf,
  rulesNotedBy,
  weigh,
} from "./finding.js";
import type { Finding } from "./finding.js";
import { obstacleDenial, obstacleError } from "./obstacle.js";
import type { Obstacle } from "./obstacle.js";
import { attachReceipt } from "./refusal-log.js";
import { assertInput } from "./request.js";
import type { InboundRequest } from "./request.js";
import { findPublicHosts } from "./source-lookup.js";
import { isSentAsItCame, reviewKeys } from "./strict-keys.js";

/**
 * Walks a browser's request along the same stages as the agent's events.
 *
 * Between them it is held against what the gateway knows: after translation, whether AG-UI defines all of
 * it; after enforcement, whether the thread's ledger bears it out. What is found decides before any policy.
 * Throws the coded error of what refuses it; a request that comes back may be sent up.
 */
export async function admitRequest(request: InboundRequest): Promise<void> {
  const findings: Finding[] = [];
  let obstacle: Obstacle | undefined;
  for (const stage of STAGES) {
    const raw = request.value;
    if (stage.name === "deliver") assertAdmitted(request, findings, obstacle);
    if (stage.name === "decide") {
      await resolveSources(request);
      const until = request.reserve?.(request.message?.capability);
      if (until !== undefined) await until;
      // Asked again right before it is decided: others may have used what came.
      for (let room = roomFor(request); room !== undefined; room = roomFor(request)) await room;
    }
    await stage.admit(request);
    if (request.kind === "message") {
      if (stage.name === "decide" && request.decision?.allow === true) {
        obstacle = request.obstacle?.();
        if (obstacle !== undefined) request.decision = obstacleDenial(obstacle);
      }
    } else if (stage.name === "translate") {
      const { policy, value } = request;
      const review = reviewKeys(
        raw as JsonValue,
        value as JsonValue,
        policy.request,
        request.lostPart,
      );
      findings.push(...review.findings);
      if (review.removed > 0) {
        if (isSentAsItCame(review, policy)) request.sentAsItCame = value as JsonObject;
        else request.isStripped = true;
      }
      const { refusing } = weigh(findings, request.policy);
      if (refusing !== undefined) throw errorOf(refusing);
    } else if (stage.name === "order") {
      findings.push(...((await request.review?.(assertInput(request))) ?? []));
    } else if (stage.name === "decide") {
      decideBy(request, findings);
      const late = request.decision?.allow === true ? await request.claim?.() : undefined;
      if (late === undefined) continue;
      findings.push(late);
      decideBy(request, findings);
    }
  }
}

/** Looks up where content parts would be fetched from: the decision itself asks nobody. */
async function resolveSources(request: InboundRequest): Promise<void> {
  const { input, policy, lookupHost } = request;
  if (input === undefined || lookupHost === undefined) return;
  if (policy.content?.resolvesSources !== true) return;
  const hosts = sourceHostsOf(input as unknown as JsonObject);
  request.publicHosts = await findPublicHosts(hosts, lookupHost);
}

function roomFor({ caps, facts }: InboundRequest): Promise<void> | undefined {
  return caps === undefined ? undefined : caps.reserve(facts, 1);
}

/** What was found comes before what a policy says, also where both only observe. */
function decideBy(request: InboundRequest, findings: readonly Finding[]): void {
  const { refusing, noted, notedRules, remarks } = weigh(findings, request.policy);
  if (refusing !== undefined) request.decision = denialOf(refusing);
  else if (request.decision?.allow === true) {
    const { observed } = request.decision;
    if (observed !== undefined && !isFound(observed)) request.policyRemark = observed;
    // On record is what enforcing would name, and there what was found comes first.
    const first = noted === undefined ? observed : denialOf(noted);
    const [remark] = remarks;
    const told = first ?? (remark === undefined ? undefined : denialOf(remark));
    if (told !== undefined) {
      const rules = [...notedRules, ...rulesNotedBy(request.decision), ...remarks.map(ruleOf)];
      request.decision = permitNoting(told, rules);
    }
  }
}

/** A refusal of our own keeps its code; it is on record by now. */
function assertAdmitted(
  request: InboundRequest,
  findings: readonly Finding[],
  obstacle: Obstacle | undefined,
): void {
  const { refusing } = weigh(findings, request.policy);
  if (refusing === undefined && obstacle === undefined) return;
  const error = refusing === undefined ? obstacleError(obstacle as Obstacle) : errorOf(refusing);
  if (request.receiptId !== undefined) attachReceipt(error, request.receiptId);
  throw error;
}
