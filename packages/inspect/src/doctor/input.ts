import { randomUUID } from "node:crypto";
import type { JsonValue } from "@countersign/core";
import { decodeBase64Url, isCountersignError, parseJson } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import { enforceInput } from "@countersign/wire/enforce";
import type { Findings } from "../check/findings.js";

/** The message that a check sends by default. */
export const DEFAULT_MESSAGE = "Say hi in 5 words";

/** The input of a check, in the form every framework accepts: 0.0.x requires all members, LangGraph ids that are UUIDs. */
export function defaultInput(message = DEFAULT_MESSAGE): JsonValue {
  return {
    threadId: randomUUID(),
    runId: randomUUID(),
    protocolVersion: "1.0",
    state: {},
    messages: [{ id: randomUUID(), role: "user", content: message }],
    tools: [],
    context: [],
    forwardedProps: {},
  };
}

/** Reports what is wrong with an input; `undefined` when the order of the answer cannot be tied to it. */
export function checkInput(value: JsonValue, findings: Findings): RunAgentInput | undefined {
  try {
    return enforceInput(value).input;
  } catch (error) {
    if (!isCountersignError(error, "ERR_ENFORCE_MALFORMED_VALUE")) throw error;
    const { path, expected, found } = error.facts;
    const missingId = /^\/messages\/\d+\/id$/.test(path) && found === "nothing";
    findings.report(missingId ? "input/message-id" : "input/malformed", {
      path,
      detail: `expected ${expected}, found ${found}`,
    });
    return undefined;
  }
}

/** Whether a header carries an OpenID Connect ID token, by the claims only such tokens have. */
export function carriesIdToken(authorization: string | undefined): boolean {
  const payload = /^Bearer\s+[\w-]+\.([\w-]+)\.[\w-]*$/i.exec(authorization ?? "")?.[1];
  if (payload === undefined) return false;
  try {
    const claims = parseJson(decodeBase64Url(payload));
    if (typeof claims !== "object" || claims === null || Array.isArray(claims)) return false;
    return (
      claims["token_use"] === "id" ||
      Object.hasOwn(claims, "nonce") ||
      Object.hasOwn(claims, "at_hash")
    );
  } catch {
    return false;
  }
}
