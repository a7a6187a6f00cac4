import type { JsonObject, JsonValue } from "@countersign/core";
import { classifyInput, stoppedPath } from "@countersign/policy";
import type { Denial } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import type { RefusedPart } from "../base/errors.js";
import { isPlainKey, pointerTo } from "./finding.js";
import type { InboundRequest } from "./request.js";

/** The number of parts that the gateway evaluates one by one: a refusal must not cost more than the request. */
const MAX_PARTS = 64;

type Part = {
  readonly at: string;
  readonly alone: Partial<RunAgentInput>;
  /** The policy lines that open this part for all sessions, if its class is what the policy blocks. */
  readonly opens?: string;
  /** The key of the state, if the part is one: the gateway then locates the path below it too. */
  readonly key?: string;
};

/**
 * Finds the part of a request that a policy rule blocks, by evaluating each part alone: the rule's reason names none.
 * The evaluation uses neither a count nor a token.
 */
export function locateRefusedPart(request: InboundRequest, denial: Denial): RefusedPart {
  const { input, judge, policy } = request;
  if (input === undefined) return {};
  const { threadId, runId } = input;
  const isStopped = (alone: Partial<RunAgentInput>): boolean => {
    const part: RunAgentInput = { threadId, runId, messages: [], ...alone };
    const facts = classifyInput(part, { refinements: policy.refinements });
    const event = part as unknown as JsonObject;
    const { publicHosts } = request;
    const { decision } = judge({ facts, event, publicHosts, isUncounted: true });
    return !decision.allow && decision.rule === denial.rule;
  };
  const parts = partsOf(input, request.writtenKeys).slice(0, MAX_PARTS);
  const part = parts.find(({ alone }) => isStopped(alone));
  if (part === undefined) return partOfSurface(denial);
  const pointer =
    part.key === undefined
      ? part.at
      : stateAt(part.key, input.state, (state) => isStopped({ state }));
  const isByClass = /^(?:ag_ui\.capability|ag_ui_inbound)$/.test(denial.rule);
  if (!isByClass || part.opens === undefined) return { pointer };
  const remedy = `hand the session a token (POST /v1/capabilities), or open it for everybody in the policy under rules: ag_ui_classify: { ${part.opens} }`;
  return { pointer, remedy };
}

/** A click or a request of an app: the policy names its place. */
function partOfSurface({ path, remedy }: Denial): RefusedPart {
  if (path?.startsWith("/forwardedProps/") !== true) return {};
  return { pointer: path, ...(remedy === undefined ? {} : { remedy }) };
}

/** The path below a key of the state, as deep as the rule distinguishes. */
function stateAt(
  key: string,
  state: JsonValue | undefined,
  isStopped: (state: JsonValue) => boolean,
): string {
  const value = (state as JsonObject)[key] ?? null;
  const below = stoppedPath(value, (part) => isStopped(Object.fromEntries([[key, part]])));
  return pointerTo("state", key, ...below);
}

const DISPLAY = "classification: display";

function partsOf(input: RunAgentInput, written: readonly string[] | undefined): Part[] {
  const { messages, resume = [], context = [], forwardedProps, state, tools = [] } = input;
  const part = (
    alone: Partial<RunAgentInput>,
    opened: string,
    ...at: (string | number)[]
  ): Part => ({
    at: pointerTo(...at),
    alone,
    opens: `input: { ${opened}: { ${DISPLAY} } }`,
  });
  return [
    ...(resume.length === 0 ? [] : [part({ resume }, "resume", "resume")]),
    ...stateParts(state, written),
    ...(forwardedProps === undefined
      ? []
      : [part({ forwardedProps }, "forwarded_props", "forwardedProps")]),
    ...tools.map((tool, index) => ({ at: pointerTo("tools", index), alone: { tools: [tool] } })),
    ...context.map((entry, index) => part({ context: [entry] }, "context", "context", index)),
    // The newest messages first: earlier requests were admitted with the older ones.
    ...messages
      .map((message, index) => {
        const opened = message.role === "tool" ? "tool_result" : "user_message";
        return part({ messages: [message] }, opened, "messages", index);
      })
      .toReversed(),
  ];
}

function stateParts(state: JsonValue | undefined, written: readonly string[] | undefined): Part[] {
  if (state === undefined || state === null || typeof state !== "object") return [];
  if (Array.isArray(state)) return [{ at: pointerTo("state"), alone: { state } }];
  return Object.entries(state)
    .filter(([key]) => written?.includes(key) ?? true)
    .map(([key, value]) => ({
      at: pointerTo("state", key),
      key,
      alone: { state: Object.fromEntries([[key, value]]) },
      opens: `state: [{ match: "/${isPlainKey(key) ? key : "…"}/**", ${DISPLAY} }]`,
    }));
}
