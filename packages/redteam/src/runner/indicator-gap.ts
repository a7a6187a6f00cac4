import { canBeTrue } from "../oatf/cel/can-be-true.js";
import { describeTarget } from "../oatf/evaluate/indicator.js";
import { isUnsatisfiable } from "../oatf/evaluate/pattern.js";
import { canSatisfy } from "../oatf/model/can-satisfy.js";
import { canHold, canHoldValue, EACH, visibleMessages } from "../oatf/model/message-paths.js";
import { isKnownSurface, modernSurface } from "../oatf/model/events.js";
import { canPeerHold } from "../oatf/model/peer-members.js";
import type { Expression, IndicatorVerdict, NormalizedIndicator } from "../oatf/index.js";
import { conditionOf } from "../oatf/model/pattern.js";
import { presenceOf } from "../oatf/primitives/condition.js";
import type { Gap } from "./gap.js";
import { AG_UI } from "./mode.js";

const ANY = { kind: "json" } as const;
const NOWHERE = "and no message that it looks at can have it";

/**
 * Why the answer of an indicator that did not match says nothing about the agent; `undefined` when it does.
 *
 * An indicator had something to look at when its target resolved on a message of the agent. Where it resolved on
 * none, the agent's silence still counts if an AG-UI message that the indicator looks at can have the target: an
 * agent that never calls a tool has no arguments to show. A path that no such message can have never matches.
 */
export function indicatorGap(
  indicator: NormalizedIndicator,
  verdict: IndicatorVerdict,
  options: {
    readonly joined: boolean;
    readonly extractors: ReadonlySet<string>;
    /** The directions in which the agent sends messages of the indicator's protocol to its actors. */
    readonly incoming: ReadonlySet<string>;
  },
): Gap | undefined {
  const blind = (kind: Gap["kind"], why: string): Gap => ({
    kind,
    message: `indicator ${indicator.id}: ${why}`,
  });
  const { result, evidence = "no evidence", looked_at: lookedAt = 0 } = verdict;
  if (result === "matched") return undefined;
  if (result === "skipped") return blind("unsupported", evidence);
  if (result === "error") return blind("error", evidence);
  const { pattern, expression, surface } = indicator;
  if (pattern !== undefined && isUnsatisfiable(pattern)) {
    return blind("error", "its pattern asks for a value that is absent, which never holds");
  }
  const template = templateIn(indicator, options.extractors);
  if (template !== undefined) {
    return blind(
      "error",
      `${template} is compared as it stands; templates are filled in what is sent only`,
    );
  }
  const missing = `no message had ${describeTarget(indicator)}`;
  if (options.incoming.size === 0) {
    const { actor = "", protocol } = indicator;
    return blind("error", `${missing}, and actor ${actor} has no ${protocol} messages`);
  }
  if (indicator.protocol !== AG_UI) {
    const { protocol, direction } = indicator;
    const compared = pattern === undefined ? undefined : conditionOf(pattern);
    if (compared !== undefined && !presenceOf(compared).alone && !canSatisfy(ANY, [compared])) {
      return blind("error", `no value of ${describeTarget(indicator)} can satisfy its condition`);
    }
    // Absence is the agent's doing, if it can send such a message at all. An expression evaluates a message without
    // what it reads too.
    if (lookedAt > 0 && expression === undefined) return undefined;
    if (surface !== undefined && isKnownSurface(protocol, surface) !== true) {
      return blind("error", `${missing}, and ${protocol} has no such event`);
    }
    if (direction !== undefined && !options.incoming.has(direction)) {
      return blind("error", `${missing}, and it looks at messages of the document only`);
    }
    const directions = direction === undefined ? options.incoming : new Set([direction]);
    const canHoldPath = (path: readonly string[]): boolean =>
      canPeerHold(protocol, surface, directions, path[0] ?? "");
    const canMatch =
      expression === undefined
        ? canHoldPath(pathSteps(targetOf(indicator)))
        : canBeTrue(expression.cel, {
            canHold: canHoldPath,
            canHoldValue: canHoldPath,
            variables: variablePaths(expression),
          });
    return canMatch ? undefined : blind("error", `${missing}, ${NOWHERE}`);
  }
  if (surface !== undefined && isKnownSurface("ag_ui", surface) !== true) {
    // Event types newer than the table are usable as soon as an agent sends them.
    if (lookedAt > 0) return undefined;
    const modern = modernSurface(surface);
    const hint = modern === undefined ? "" : `; today it is ${modern}`;
    return blind("error", `${missing}, and AG-UI has no such event${hint}`);
  }
  const messages = visibleMessages({ ...indicator, joined: options.joined });
  if (expression === undefined) {
    const path = pathSteps(targetOf(indicator));
    const holding = messages.filter((shapes) => canHold(shapes, path));
    if (holding.length === 0 && lookedAt === 0) return blind("error", `${missing}, ${NOWHERE}`);
    const condition = pattern === undefined ? undefined : conditionOf(pattern);
    if (condition === undefined || presenceOf(condition).alone) return undefined;
    // A member that the table does not have, and that an agent sent, can be anything.
    const canMatch =
      holding.length === 0
        ? canSatisfy(ANY, [condition])
        : holding.some((shapes) => canHoldValue(shapes, path, [condition]));
    if (canMatch) return undefined;
    return blind("error", `no value of ${describeTarget(indicator)} can satisfy its condition`);
  }
  const canMatch = messages.some((shapes) =>
    canBeTrue(expression.cel, {
      canHold: (path) => canHold(shapes, path),
      canHoldValue: (path, conditions) => canHoldValue(shapes, path, conditions),
      variables: variablePaths(expression),
    }),
  );
  if (canMatch) return undefined;
  return blind("error", `${missing}, ${NOWHERE}`);
}

const ANSWER_PATHS: ReadonlySet<string> = new Set(["response.content", "content", "body"]);

/**
 * A target in the words of the agent, in a document of which no indicator had a message to evaluate; `undefined` if
 * there is none. Words are the text of its answer, and its responses to MCP and A2A clients. An agent without words
 * shows nothing to such an indicator, so its miss decides nothing. A tool that is not called is different: the agent
 * answered, and the answer has no call.
 */
export function unseenWords(
  indicators: readonly NormalizedIndicator[],
  verdicts: readonly IndicatorVerdict[],
  incoming: (indicator: NormalizedIndicator) => ReadonlySet<string>,
): string | undefined {
  if (verdicts.some(({ looked_at: lookedAt }) => lookedAt !== 0)) return undefined;
  const blind = indicators.find((indicator) => {
    const { protocol, surface, direction } = indicator;
    if (protocol !== AG_UI) {
      return incoming(indicator).has("response") && direction !== "request";
    }
    return surface === undefined
      ? ANSWER_PATHS.has(targetOf(indicator))
      : /^(?:text_message_(?:content|chunk)|_accumulated_message)$/.test(surface);
  });
  return blind === undefined ? undefined : describeTarget(blind);
}

/** A template of the document in what an indicator compares with. */
function templateIn(
  { pattern, expression }: NormalizedIndicator,
  extractors: ReadonlySet<string>,
): string | undefined {
  const compared = JSON.stringify([pattern ?? null, expression?.cel ?? null]);
  for (const [template, name = ""] of compared.matchAll(/\{\{\s*([\w.-]+)\s*\}\}/g)) {
    const [first = "", ...rest] = name.split(".");
    const isOfMessage = rest.length > 0 && (first === "request" || first === "response");
    if (isOfMessage || extractors.has(name) || extractors.has(rest.join("."))) return template;
  }
  return undefined;
}

function variablePaths({ variables = {} }: Expression): ReadonlyMap<string, string[]> {
  return new Map(Object.entries(variables).map(([name, path]) => [name, pathSteps(path)]));
}

function targetOf({ pattern, semantic, target }: NormalizedIndicator): string {
  return pattern?.target ?? semantic?.target ?? target;
}

function pathSteps(path: string): string[] {
  if (path === "") return [];
  return path
    .split(".")
    .flatMap((step) => (step.endsWith("[*]") ? [step.slice(0, -3), EACH] : [step]));
}
