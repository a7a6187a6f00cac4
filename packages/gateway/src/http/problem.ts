import { remedyOf } from "./remedies.js";
import type { HttpResponse } from "./exchange.js";

/** A refusal before any stream: RFC 9457 with a stable code. */
export type Problem = {
  status: number;
  code: string;
  title: string;
  detail?: string;
  /** The part of the request that is invalid: a JSON Pointer (RFC 6901). */
  pointer?: string;
  /** A specific fix, if it says more than the general one of the code. */
  remedy?: string;
  /** The receipt of the decision behind the refusal, if there is one. */
  receipt?: string;
  /** Ids of open interrupts: a reloaded page can cancel them. */
  interrupts?: readonly string[];
};

/** When a client may retry: another gateway or the store should be available by then. */
const RETRY_AFTER_SECONDS = "5";

/** Builds the problem document. */
export function documentOf(problem: Problem): object {
  const { status, code, title, detail, pointer, receipt, interrupts } = problem;
  const { remedy = remedyOf(code) } = problem;
  return {
    type: `urn:countersign:problem:${code}`,
    title,
    status,
    code,
    ...(detail === undefined ? {} : { detail }),
    ...(pointer === undefined ? {} : { pointer }),
    ...(remedy === undefined ? {} : { remedy }),
    ...(receipt === undefined ? {} : { receipt }),
    ...(interrupts === undefined ? {} : { interrupts }),
  };
}

/** Responds with a problem document. */
export function sendProblem(
  response: HttpResponse,
  problem: Problem,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { status } = problem;
  const body = JSON.stringify(documentOf(problem));
  response.writeHead(status, {
    ...headers,
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    ...(status === 503 ? { "retry-after": RETRY_AFTER_SECONDS } : {}),
    "content-length": String(Buffer.byteLength(body)),
  });
  response.end(body);
}
