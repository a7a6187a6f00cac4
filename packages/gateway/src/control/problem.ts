import type { Context } from "hono";

/** Error statuses of the control plane. */
export type ProblemStatus = 400 | 401 | 404 | 409 | 413 | 422 | 429 | 500 | 503;

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
