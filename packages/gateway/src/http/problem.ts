import { remedyOf } from "./remedies.js";
import type { HttpResponse } from "./exchange.js";

/** A refusal before any stream: RFC 9457 with a stable code. */
export type Problem = {
  status: number;
  code: string;
  title: string;
  detail?: string;
  /** Which part of the request it is about: a JSON Pointer (RFC 6901). */
  pointer?: string;
  /** What helps, where more can be said than of every refusal with this code. */
  remedy?: string;
  /** The receipt of the decision behind the refusal, where there is one. */
  receipt?: string;
  /** Ids of interrupts that wait for an answer: a page that was loaded anew can cancel them. */
  interrupts?: readonly string[];
};

/** When a client that was told to come back may do so: another gateway or the same store should be there by then. */
const RETRY_AFTER_SECONDS = "5";

/** The document that tells a problem. */
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

/** Answers with a problem document. */
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
