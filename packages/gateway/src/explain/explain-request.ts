import type { JsonObject, JsonValue } from "@countersign/core";
import { readSurfaceRequests, REQUEST_CHECKS } from "@countersign/policy";
import type { CompiledPolicy, RequestCheckName } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import { enforceInput } from "@countersign/wire/enforce";
import { reviewClientData } from "../inbound/client-data.js";
import { reviewTools } from "../inbound/declared-tools.js";
import { ruleOf } from "../inbound/finding.js";
import type { Finding } from "../inbound/finding.js";
import { reviewKeys } from "../inbound/strict-keys.js";
import { stateOf } from "../thread/thread-state.js";
import { remedyOf } from "../http/remedies.js";

/** The result of one check of `ag_ui_request` for a request without its thread. */
export type RequestStep = {
  readonly rule: string;
  /** `thread`: the check compares the request with its thread, which is not known here. */
  readonly outcome: "passed" | "blocked" | "observed" | "thread";
  readonly code?: string;
  readonly reason?: string;
  readonly pointer?: string;
  readonly remedy?: string;
};

/** The thread data that a check needs, and whether a request has anything to check. */
const ON_THE_THREAD: Partial<Record<RequestCheckName, (input: RunAgentInput) => boolean>> = {
  threads: () => true,
  runs: () => true,
  history: ({ messages }) => messages.length > 0,
  tool_results: ({ messages }) => messages.some(({ role }) => role === "tool"),
  resume: () => true,
  actions: (input) => readSurfaceRequests(input as unknown as JsonObject).length > 0,
};

/**
 * Runs the gateway's own checks on a request, as if it were the first on its thread; checks that
 * need the thread say so.
 *
 * @throws the coded error of a request that cannot be read
 */
export function explainRequest(value: JsonValue, policy: CompiledPolicy): RequestStep[] {
  const { input } = enforceInput(value);
  const findings: Finding[] = [
    ...reviewKeys(value, value, policy.request).findings,
    ...reviewTools(input, stateOf([]), policy.request.tools),
    ...reviewClientData(input, policy.request),
  ];
  return REQUEST_CHECKS.flatMap((check): RequestStep[] => {
    const mode = policy.request.mode(check);
    // Approvals are compared with the agent's next calls.
    if (mode === "off" || check === "approval") return [];
    const finding = findings.find((one) => one.check === check);
    if (finding !== undefined) return [stepOf(finding, mode)];
    const rule = `ag_ui_request.${check}`;
    return [{ rule, outcome: ON_THE_THREAD[check]?.(input) === true ? "thread" : "passed" }];
  });
}

function stepOf(finding: Finding, mode: "enforce" | "observe"): RequestStep {
  const { code, reason, at, isReportOnly, remedy = remedyOf(code) } = finding;
  return {
    rule: ruleOf(finding),
    outcome: isReportOnly === true ? "passed" : mode === "enforce" ? "blocked" : "observed",
    code,
    reason,
    ...(at === undefined ? {} : { pointer: at }),
    ...(remedy === undefined ? {} : { remedy }),
  };
}
