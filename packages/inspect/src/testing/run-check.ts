import type { JsonValue } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import { createFindings } from "../check/findings.js";
import type { Finding } from "../check/findings.js";
import { createStreamCheck } from "../check/stream-check.js";
import type { StreamCheckOptions } from "../check/stream-check.js";
import { createSseWatch } from "../framing/sse-watch.js";

/** Checks events that never were on a wire. */
export function checkEvents(
  events: readonly JsonValue[],
  input?: RunAgentInput,
  gateway: Pick<StreamCheckOptions, "profile" | "dialect"> = {},
): Finding[] {
  const findings = createFindings();
  const asked = input === undefined ? {} : { input };
  const check = createStreamCheck({ findings, ...asked, ...gateway });
  for (const event of events) check.text(JSON.stringify(event));
  check.end();
  return findings.list();
}

/** Checks an SSE body, cut into pieces of one size. */
export function checkSse(body: string | Uint8Array, size = 65_536, get = false): Finding[] {
  const findings = createFindings();
  const check = createStreamCheck({ findings });
  const watch = createSseWatch({ findings, check, get });
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  for (let at = 0; at < bytes.length; at += size) watch.push(bytes.subarray(at, at + size));
  watch.end();
  check.end();
  return findings.list();
}

/** The rules that weigh more than a note. */
export function faults(findings: readonly Finding[]): string[] {
  return findings.filter(({ severity }) => severity !== "note").map(({ rule }) => rule);
}
