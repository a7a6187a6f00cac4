import type { HttpAnswer } from "./http-sink.js";

/** A refusal before any stream: RFC 9457 with a stable code. */
export type Problem = {
  status: number;
  code: string;
  title: string;
  detail?: string;
  /** The receipt of the decision behind the refusal, where there is one. */
  receipt?: string;
  /** Ids of interrupts that wait for an answer: a page that was loaded anew can cancel them. */
  interrupts?: readonly string[];
};

/** When a client that was told to come back may do so: another gateway or the same store should be there by then. */
const RETRY_AFTER_SECONDS = "5";

/** Answers with a problem document. */
export function sendProblem(
  answer: HttpAnswer,
  problem: Problem,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { status, code, title, detail, receipt, interrupts } = problem;
  const body = JSON.stringify({
    type: `urn:countersign:problem:${code}`,
    title,
    status,
    code,
    ...(detail === undefined ? {} : { detail }),
    ...(receipt === undefined ? {} : { receipt }),
    ...(interrupts === undefined ? {} : { interrupts }),
  });
  answer.writeHead(status, {
    ...headers,
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    ...(status === 503 ? { "retry-after": RETRY_AFTER_SECONDS } : {}),
    "content-length": String(Buffer.byteLength(body)),
  });
  answer.end(body);
}
