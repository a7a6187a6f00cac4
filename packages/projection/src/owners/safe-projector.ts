import { diagnose, diagnoseThrown } from "../base/diagnostic.js";
import type { Diagnostic } from "../base/diagnostic.js";
import type { RecordedEvent } from "../ledger/event.js";
import type { Disclosure } from "../safe/disclosure.js";
import { createSafeEvent, repeatsIdentity } from "../safe/event.js";
import type { SafeLedgerEvent } from "../safe/event.js";
import { BUILT_IN_OWNERS } from "./registry.js";
import type { OwnerRegistry } from "./registry.js";
import { projectRuntimeEvent, RUNTIME_OWNER } from "./runtime/project-runtime.js";
import { projectWorkspaceEvent } from "./workspace.js";

/** The safe event of an owner, or the reason why there is none. */
export type SafeProjection =
  | { readonly safe: SafeLedgerEvent }
  | { readonly safe: undefined; readonly diagnostic: Diagnostic };

/**
 * Calls the owner's projector for an event. Whatever the projector does, even if it throws, the
 * result is a safe event of exactly that event or a diagnostic.
 */
export function projectSafely(
  event: RecordedEvent,
  owners: OwnerRegistry,
  disclosure: Disclosure,
): SafeProjection {
  try {
    return BUILT_IN_OWNERS.has(event.factOwnerRef)
      ? projectBuiltIn(event, disclosure)
      : projectForeign(event, owners, disclosure);
  } catch (error) {
    return { safe: undefined, diagnostic: diagnoseThrown(error, event) };
  }
}

function projectBuiltIn(event: RecordedEvent, disclosure: Disclosure): SafeProjection {
  const payload =
    event.factOwnerRef === RUNTIME_OWNER
      ? projectRuntimeEvent(event, disclosure)
      : projectWorkspaceEvent(event, disclosure);
  return payload === undefined ? nothing(event) : { safe: createSafeEvent(event, payload) };
}

function projectForeign(
  event: RecordedEvent,
  owners: OwnerRegistry,
  disclosure: Disclosure,
): SafeProjection {
  const projector = owners.find(event.factOwnerRef);
  if (projector === undefined) {
    const diagnostic = owners.isDuplicated(event.factOwnerRef)
      ? diagnose("ERR_PROJECTION_DUPLICATE_OWNER", "the owner is listed twice", event)
      : diagnose("ERR_PROJECTION_NO_PROJECTOR", "the owner has no projector", event);
    return { safe: undefined, diagnostic };
  }
  const answer = projector.projectSafeEvent(event);
  if (answer === undefined) return nothing(event);
  if (!repeatsIdentity(answer, event)) {
    const message = "the safe event does not repeat the identity of its source";
    return { safe: undefined, diagnostic: diagnose("ERR_PROJECTION_IDENTITY", message, event) };
  }
  // Copied even if `createSafeEvent` created it: the owner may have kept a reference.
  const safe = createSafeEvent(event, answer.safePayload);
  if (safe.safePayload === undefined) return { safe };
  return { safe: createSafeEvent(event, disclosure.scrubbed(safe.safePayload)) };
}

function nothing(event: RecordedEvent): SafeProjection {
  const message = "the owner shows nothing of the event";
  return { safe: undefined, diagnostic: diagnose("ERR_PROJECTION_NOT_PROJECTED", message, event) };
}
