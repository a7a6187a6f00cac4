import { CountersignError } from "@countersign/core";
import type { Denial } from "@countersign/policy";
import { ownDenial } from "../outbound/decide/structure.js";
import type { OwnRuleId } from "../event/own-rules.js";
import "./errors.js";

/** Why a browser's message cannot go up, whatever a policy says of it. */
export type SendBlocker = {
  readonly rule: OwnRuleId;
  readonly code: "ERR_MESSAGE_NO_RUN" | "ERR_MESSAGE_ONE_WAY";
  readonly reason: string;
};

/** There is nobody to hear it. */
export const NO_RUN: SendBlocker = {
  rule: "gateway/no-run",
  code: "ERR_MESSAGE_NO_RUN",
  reason: "no run is open on the socket",
};

/** The agent is asked by a request and answers with a stream. */
export const ONE_WAY: SendBlocker = {
  rule: "gateway/one-way",
  code: "ERR_MESSAGE_ONE_WAY",
  reason: "the agent takes no messages on its transport",
};

/** The block that an blocker means. */
export function blockerDenial({ rule, code, reason }: SendBlocker): Denial {
  return ownDenial(rule, `${code}: ${reason}`);
}

/** The error that a refused client gets. */
export function blockerError({ code, reason }: SendBlocker): CountersignError {
  return new CountersignError(code, reason, {});
}
