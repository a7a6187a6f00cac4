import { CountersignError } from "@countersign/core";
import type { Denial } from "@countersign/policy";
import { ownDenial } from "../outbound/decide/denial.js";
import type { OwnRuleId } from "../event/own-rules.js";
import "../base/errors.js";

/** A reason why the gateway cannot send a browser's message to the agent, under any policy. */
export type SendBlocker = {
  readonly rule: OwnRuleId;
  readonly code: "ERR_MESSAGE_NO_RUN" | "ERR_MESSAGE_ONE_WAY";
  readonly reason: string;
};

/** No run is open that could receive the message. */
export const NO_RUN: SendBlocker = {
  rule: "gateway/no-run",
  code: "ERR_MESSAGE_NO_RUN",
  reason: "no run is open on the socket",
};

/** The agent receives one HTTP request and responds with a stream. */
export const ONE_WAY: SendBlocker = {
  rule: "gateway/one-way",
  code: "ERR_MESSAGE_ONE_WAY",
  reason: "the agent takes no messages on its transport",
};

/** Converts a blocker to a denial. */
export function blockerDenial({ rule, code, reason }: SendBlocker): Denial {
  return ownDenial(rule, `${code}: ${reason}`);
}

/** Creates the error that the client receives for a blocker. */
export function blockerError({ code, reason }: SendBlocker): CountersignError {
  return new CountersignError(code, reason, {});
}
