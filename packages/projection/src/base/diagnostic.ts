import { isCountersignError } from "@countersign/core";
import type { ProjectionCode } from "./errors.js";

/**
 * Why an event, a frame or an entry produced nothing. A value, never thrown: one bad event must not
 * cost a reader the rest of the stream. It never contains payload data.
 */
export type Diagnostic = {
  readonly code: ProjectionCode;
  readonly message: string;
  readonly eventId?: number;
  readonly kind?: string;
  readonly owner?: string;
  /** The path in the row or payload. */
  readonly path?: string;
  readonly reason?: string;
};

/** The event that a diagnostic is about. */
export type Subject = { readonly id: number; readonly kind: string; readonly factOwnerRef: string };

const MAX_NAME = 200;

/** Creates a diagnostic, with or without an event. */
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
 * The diagnostic of an error that a projector or decoder threw. The message of a foreign error is
 * not included: it may contain payload data.
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
