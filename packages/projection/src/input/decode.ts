import { CountersignError, isCountersignError, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import { enforceInput } from "@countersign/wire/enforce";
import "../base/errors.js";
import { isRecord } from "../safe/value.js";
import { LoweringIssues } from "./issues.js";
import { DEFAULT_LOWERING_LIMITS } from "./policy.js";

/**
 * Members that some servers also read under a second name, which would bypass a check of the first.
 */
const TWINS = new Set([
  "thread_id",
  "run_id",
  "parent_run_id",
  "forwarded_props",
  "protocol_version",
  "tool_call_id",
  "tool_calls",
  "encrypted_value",
  "interrupt_id",
  "subagent_run_id",
]);

/** Validates an input and records its issues. */
export function readInput(value: JsonValue, issues: LoweringIssues): RunAgentInput | undefined {
  const twin = findTwin(value);
  if (twin !== undefined) {
    issues.refuse("snake-case-twin", twin);
    return undefined;
  }
  try {
    const { input, notes } = enforceInput(value);
    for (const { kind, path } of notes) {
      if (kind === "unknownMember" && /^\/messages\/\d+$/.test(path)) {
        issues.refuse("unknown-role", path);
      } else if (kind !== "nullOmitted") issues.drop("unknown-material", path);
    }
    return input;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    const { path } = error.facts as { path?: string };
    issues.refuse("malformed-input", path ?? "");
    return undefined;
  }
}

/** Parses the body of a request; a duplicate key is rejected like any other invalid JSON. */
export function readBody(
  body: string | Uint8Array,
  maxBytes: number,
  issues: LoweringIssues,
): JsonValue | undefined {
  try {
    return parseJson(body, { maxBytes });
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    issues.refuse("malformed-json", "");
    return undefined;
  }
}

/**
 * Decodes a request body strictly.
 *
 * @throws CountersignError `ERR_PROJECTION_INPUT` with the first reason
 */
export function decodeRunInput(body: string | Uint8Array): RunAgentInput {
  const issues = new LoweringIssues();
  const value = readBody(body, DEFAULT_LOWERING_LIMITS.maxBodyBytes, issues);
  const input = value === undefined ? undefined : readInput(value, issues);
  const refusal = issues.list.find(({ effect }) => effect === "refused");
  if (input !== undefined && refusal === undefined) return input;
  const { code: reason, path } = refusal ?? { code: "malformed-input", path: "" };
  throw new CountersignError("ERR_PROJECTION_INPUT", `the input is refused: ${reason}`, {
    path,
    reason,
  });
}

type StandardResult =
  | { readonly value: RunAgentInput }
  | { readonly issues: readonly { readonly message: string; readonly path: readonly string[] }[] };

/** The decoder for parsed values as a Standard Schema, for frameworks that use one. */
export const runInputSchema = {
  "~standard": {
    version: 1 as const,
    vendor: "countersign",
    validate(value: unknown): StandardResult {
      const issues = new LoweringIssues();
      const input = readInput(value as JsonValue, issues);
      const refused = issues.list.filter(({ effect }) => effect === "refused");
      if (input !== undefined && refused.length === 0) return { value: input };
      return {
        issues: refused.map(({ code, path }) => ({
          message: code,
          path: path.split("/").slice(1),
        })),
      };
    },
  },
};

/** Searches the positions of protocol members; application data is not searched. */
function findTwin(value: JsonValue): string | undefined {
  const inObject = (part: unknown, path: string): string | undefined => {
    if (!isRecord(part)) return undefined;
    const name = Object.keys(part).find((key) => TWINS.has(key));
    return name === undefined ? undefined : `${path}/${name}`;
  };
  const inList = (list: unknown, path: string): string | undefined => {
    if (!Array.isArray(list)) return undefined;
    for (const [index, item] of list.entries()) {
      const found = inObject(item, `${path}/${index}`);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  if (!isRecord(value)) return undefined;
  return (
    inObject(value, "") ??
    inList(value["messages"], "/messages") ??
    inList(value["resume"], "/resume")
  );
}
