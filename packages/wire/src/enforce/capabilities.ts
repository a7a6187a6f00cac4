import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { AGENT_CAPABILITIES } from "../model/capabilities.js";
import type { AgentCapabilities } from "../model/capabilities.js";
import { malformed } from "./errors.js";
import { Walk } from "./walk.js";

/**
 * The capabilities that an agent declares, checked: a known field with a wrong value throws `ERR_ENFORCE_MALFORMED_VALUE`,
 * an unknown one is data. Capabilities are never a reason to refuse a stream.
 *
 * @example
 * const { identity } = enforceCapabilities(parseJson(await response.text()));
 */
export function enforceCapabilities(value: JsonValue): AgentCapabilities {
  if (!isJsonObject(value)) throw malformed("AgentCapabilities", "", "an object", value);
  const walk = new Walk("AgentCapabilities");
  return walk.object(AGENT_CAPABILITIES, value, "") as unknown as AgentCapabilities;
}
