import { isCountersignError } from "@countersign/core";
import type { ProjectionCode } from "./errors.js";

/**
 * Why an event, a frame or an entry made nothing. A value, never thrown: one bad event must not cost
 * a reader the rest of the stream. It never holds anything of a payload.
 */
export type Diagnostic = {
  readonly code: ProjectionCode;
  readonly message: string;
  readonly eventId?: number;
  readonly kind?: string;
  readonly owner?: string;
  /** The place in the row or payload. */
  readonly path?: string;
  readonly reason?: string;
};

/** What a diagnostic is about. */
export type Subject = { readonly id: number; readonly kind: string; readonly factOwnerRef: string };

const MAX_NAME = 200;

/** Makes a diagnostic about one event, or about none. */
export function diagnose(
  code: ProjectionCode,
  message: string,
  subject?: Subject,
  more: { readonly path?: string; readonly reason?: string } = {},
): Diagnostic {
  if (subject === undefined) return { code, message, ...more };
  return {
    code,
    message,
    eventId: subject.id,
    kind: subject.kind.slice(0, MAX_NAME),
    owner: subject.factOwnerRef.slice(0, MAX_NAME),
    ...more,
  };
}

/**
 * The diagnostic of something thrown by a projector or decoder. Of foreign errors nothing is told: a
 * message may quote the payload.
 */
export function diagnoseThrown(error: unknown, subject?: Subject): Diagnostic {
  if (!isCountersignError(error) || !error.code.startsWith("ERR_PROJECTION_")) {
    return diagnose("ERR_PROJECTION_PROJECTOR_FAILED", "the owner's projector failed", subject);
  }
  const { path } = error.facts as { path?: string };
  return diagnose(
    error.code as ProjectionCode,
    error.message,
    subject,
    path === undefined ? {} : { path },
  );
}
