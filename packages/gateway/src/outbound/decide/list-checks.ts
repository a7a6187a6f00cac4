import type { JsonObject } from "@countersign/core";
import type { Decision, ForeignRole } from "@countersign/policy";
import type { Message } from "@countersign/wire";
import { denialIn } from "./denial.js";
import { evaluateUncounted } from "./evaluate-uncounted.js";
import { argumentsOf, sameJson } from "./listed.js";
import type { Subject } from "./rule.js";

const UNCHANGEABLE = "what was said or answered stays as it was";

export function isRenamed({ part }: Subject): string | undefined {
  const { call, earlierName } = part ?? {};
  if (earlierName === undefined || earlierName === call?.function.name) return undefined;
  return "a tool call keeps its name";
}

/** The gateway restores a field that a framework loses, without a receipt. */
export function changesOriginal({ part }: Subject): string | undefined {
  const { message, original } = part ?? {};
  if (message === undefined || original === undefined) return undefined;
  return saysTheSame(message, original) ? undefined : UNCHANGEABLE;
}

/** The gateway has only digests of the message, so it cannot restore it. */
export function changesRecord({ part }: Subject): string | undefined {
  return part?.restored === undefined ? UNCHANGEABLE : undefined;
}

/** Frameworks keep instructions out of lists, and lose no message of the person. */
export function isLeftOut({ part }: Subject): string | undefined {
  const role = part?.message?.role;
  return role === "user" || role === "tool" ? UNCHANGEABLE : undefined;
}

export function isOtherCall({ part, state }: Subject): string | undefined {
  const { message } = part ?? {};
  if (message?.role !== "tool") return undefined;
  const answered = state.view.answeredCall(message.id);
  return answered === undefined || answered === message.toolCallId ? undefined : UNCHANGEABLE;
}

/** Evaluates `ag_ui_messages` on a message that neither the client nor the application sent. */
export function unknownPolicy({ part, state }: Subject): Decision | undefined {
  const role = part?.message?.role;
  return role && state.run.policy.messages.unknown(role as ForeignRole);
}

/** Evaluates the policy on a part of a list; a call as the events that would stream it: its start and its arguments. */
export function listedPolicy({ state, context, part }: Subject): Decision | undefined {
  const { event, facts } = context;
  if (event === undefined || facts === undefined) return undefined;
  const call = part?.call;
  const earlier =
    call === undefined ? undefined : evaluateUncounted(state, facts, argumentsOf(call));
  if (earlier?.allow === false) return earlier;
  const { decision, capability } = state.judge({
    facts,
    isPart: true,
    content: part?.content,
    surface: context.surface,
    event: event as unknown as JsonObject,
    ...(call === undefined ? {} : { listedArguments: call.function.arguments }),
  });
  context.capabilityId = capability?.id;
  return denialIn(decision) === undefined ? (earlier ?? decision) : decision;
}

/** Evaluates the conditions and content rules on events that stand for what a listed part carries. */
export function attachedPolicy({ state, context, part }: Subject): Decision | undefined {
  return context.facts && evaluateUncounted(state, context.facts, part?.events ?? []);
}

/** The owner of a listed message is evaluated as if the message were streamed. */
export function ownerPolicy({ state, context, part }: Subject): Decision | undefined {
  const { event, facts } = context;
  if (event === undefined || facts === undefined) return undefined;
  const { decision, capability } = state.judge({
    facts,
    violations: part?.violations,
    event: event as unknown as JsonObject,
    isPart: true,
    isUncounted: true,
  });
  context.capabilityId = capability?.id;
  return decision;
}

function saysTheSame(message: Message, original: Message): boolean {
  if (message.role !== original.role || !sameJson(message.content, original.content)) return false;
  return (
    message.role !== "tool" ||
    original.role !== "tool" ||
    (message.toolCallId === original.toolCallId && message.error === original.error)
  );
}
