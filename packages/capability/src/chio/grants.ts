import type { JsonObject } from "@countersign/core";
import type { AuthorizedAspect, CapabilityContext } from "../model/facts.js";
import { formatScope, isClassification } from "../scope/grammar.js";
import { customPair, GATEWAY_ARGUMENTS, holds, isEvaluable } from "./constraints.js";
import type { ChioGrant } from "./model.js";

/**
 * The values a grant is bound to; `undefined` for members it does not name, `false` for
 * contradictions.
 */
export type Binding = ReadonlyMap<string, string | false>;

/** A grant for UI events, with its binding. */
export type UiGrant = ChioGrant & { readonly binding: Binding };

// Their proof is outside the event, so a grant with one of these never binds to an event.
const NEVER = new Set([
  "output_digest_sha256",
  "require_finding_purchase",
  "require_finding_recovery",
]);

/** The `custom` constraint that names a principal. */
const PRINCIPAL = "principal_id";

/** The grants on server `ag-ui` that allow to invoke an event class. */
export function uiGrants(grants: readonly ChioGrant[]): UiGrant[] {
  return grants
    .filter(
      ({ serverId, toolName, operations }) =>
        (serverId === "ag-ui" || serverId === "*") &&
        (toolName === "*" || isClassification(toolName)) &&
        operations.includes("invoke"),
    )
    .map((grant) => ({ ...grant, binding: bindingOf(grant) }));
}

/** Why a grant cannot allow any event here; `undefined` when it might. */
export function grantFault({ constraints, needsPossession }: ChioGrant): string | undefined {
  if (needsPossession) return "proof of possession is unavailable";
  const strange = constraints.find((constraint) => !isEvaluable(constraint));
  if (strange === undefined) return undefined;
  return NEVER.has(strange.type)
    ? `${strange.type} never binds to an event`
    : `portable kernel cannot safely evaluate ${strange.type}`;
}

/** Whether a grant matches this session, agent and event, apart from the event's class. */
export function fitsContext(grant: UiGrant, context: CapabilityContext): boolean {
  const args = contextArguments(context);
  // The event has a session, so the grant must name the same one.
  if (grant.binding.get("session_id") !== context.sessionId) return false;
  if (!fitsPrincipal(grant, context)) return false;
  return grant.constraints.every((constraint) => {
    const [key] = customPair(constraint) ?? [];
    if (key === PRINCIPAL) return true;
    if (key !== undefined && GATEWAY_ARGUMENTS.has(key)) {
      return isAboutAspect(key) || holds(constraint, args);
    }
    // Every other constraint reads the payload; without one it is undecided.
    return context.event?.payload !== undefined && holds(constraint, args);
  });
}

/**
 * Whether a grant names no principal, or this one. Compared here and not through the arguments:
 * other constraints read the arguments, and the name of a principal may contain the address of its
 * issuer.
 */
export function fitsPrincipal({ binding }: UiGrant, { principal }: CapabilityContext): boolean {
  const named = binding.get(PRINCIPAL);
  return named === undefined || named === principal;
}

/** Whether a grant that matches the context covers one aspect of the event. */
export function bindsAspect(
  grant: UiGrant,
  context: CapabilityContext,
  { classification, target }: AuthorizedAspect,
): boolean {
  if (grant.toolName !== "*" && grant.toolName !== classification) return false;
  // Both directions: the grant must name the event's target, and the event must have the named one.
  if (grant.binding.get("target_component_type") !== target?.component_type) return false;
  if (grant.binding.get("target_component_id") !== target?.component_id) return false;
  const args: JsonObject = { ...contextArguments(context), event_classification: classification };
  if (target !== undefined) args["target_component_type"] = target.component_type;
  if (target?.component_id !== undefined) args["target_component_id"] = target.component_id;
  return grant.constraints.every(
    (constraint) => customPair(constraint)?.[0] === PRINCIPAL || holds(constraint, args),
  );
}

/** The scope string that covers at least the grant. */
export function grantScope({ toolName, binding }: UiGrant): string {
  const type = binding.get("target_component_type");
  const id = binding.get("target_component_id");
  return formatScope({
    classification: isClassification(toolName) ? toolName : "*",
    componentType: typeof type === "string" ? type : "*",
    ...(typeof id === "string" ? { componentId: id } : {}),
  });
}

function isAboutAspect(key: string): boolean {
  return key === "event_classification" || key.startsWith("target_component_");
}

function contextArguments({ agent, sessionId, event }: CapabilityContext): JsonObject {
  return {
    agent_id: agent,
    session_id: sessionId,
    ...(event?.id === undefined ? {} : { event_id: event.id }),
    ...(event?.payload === undefined ? {} : { payload: event.payload }),
  };
}

function bindingOf({ constraints }: ChioGrant): Binding {
  const binding = new Map<string, string | false>();
  for (const constraint of constraints) {
    const [key, value] = customPair(constraint) ?? [];
    if (key === undefined || value === undefined) continue;
    const before = binding.get(key);
    binding.set(key, before === undefined || before === value ? value : false);
  }
  return binding;
}
