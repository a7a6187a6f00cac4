import { CountersignError } from "@countersign/core";
import type { Context } from "hono";
import "../base/errors.js";

/** Error statuses of the control plane. */
export type ProblemStatus = 400 | 401 | 403 | 404 | 409 | 410 | 413 | 422 | 429 | 500 | 503;

/** An error response of the control plane: RFC 9457 with a stable code. */
export function problem(
  context: Context,
  status: ProblemStatus,
  code: string,
  title: string,
): Response {
  return context.json({ type: `urn:countersign:problem:${code}`, title, status, code }, status, {
    "content-type": "application/problem+json",
    "cache-control": "no-store",
  });
}

/** Characters of an unknown name that are returned to the client. */
const MAX_NAME = 64;

/** The error for an invalid field or parameter. */
export function invalidField(name: string, expected: string): CountersignError {
  const field = name.slice(0, MAX_NAME);
  return new CountersignError("ERR_CONTROL_FIELD", `${field} must be ${expected}`, {
    field,
    expected,
  });
}
