import { parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { invalidField } from "./problem.js";

/** Limits of request fields; the OpenAPI description states the same. */
export const BODY_LIMITS = {
  /** Characters of an agent's or a session's name, as in tokens. */
  name: 256,
  /** Characters of a principal, as in tokens. */
  principal: 2048,
  /** Characters of the id of a capability. */
  id: 1024,
  /** Characters of a token, including those of Chio. */
  token: 65_536,
  scopes: 256,
  /** Characters of one scope. */
  scope: 256,
  /** A year: longer than any dialog, and it catches milliseconds given as seconds. */
  seconds: 31_536_000,
  events: 1_000_000_000,
  /** Characters of the hash of a policy. */
  hash: 64,
  /** Characters of the reason for a change. */
  comment: 500,
  /** Characters of a candidate policy: a body has 256 KiB. */
  policy: 200_000,
} as const;

/** A body whose fields are read one by one; each is checked when it is read. */
export type RequestBody = {
  text(field: string, most: number): string;
  optionalText(field: string, most: number): string | undefined;
  texts(field: string, bounds: { readonly count: number; readonly length: number }): string[];
  optionalCount(field: string, most: number): number | undefined;
  /** As `optionalCount`, from 0. */
  optionalNumber(field: string, most: number): number | undefined;
  optionalFlag(field: string): boolean | undefined;
};

/**
 * Parses a body of known fields. An unknown field is refused: a mistyped `session_id` would otherwise sign a token
 * for every session.
 *
 * @throws CountersignError `ERR_CONTROL_FIELD` with the field's name, `ERR_JSON_*`
 */
export function readBody(text: string, known: readonly string[]): RequestBody {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidField("body", "a JSON object");
  }
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown !== undefined) {
    throw invalidField(unknown, `left out: the fields are ${known.join(", ")}`);
  }
  return fieldsOf(value);
}

function fieldsOf(body: JsonObject): RequestBody {
  const optionalText = (field: string, most: number): string | undefined => {
    const value = body[field];
    if (value === undefined || isText(value, most)) return value;
    throw invalidField(field, `a string of 1 to ${most} characters`);
  };
  const optionalWhole = (field: string, least: number, most: number): number | undefined => {
    const value = body[field];
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) {
      return value;
    }
    throw invalidField(field, `a whole number from ${least} to ${most}`);
  };
  return {
    optionalText,
    text: (field, most) => {
      const value = optionalText(field, most);
      if (value === undefined) throw invalidField(field, "a string");
      return value;
    },
    texts: (field, { count, length }) => {
      const value = body[field];
      if (Array.isArray(value) && value.length <= count) {
        const texts = value.filter((item) => isText(item, length));
        if (texts.length === value.length) return texts;
      }
      throw invalidField(
        field,
        `a list of at most ${count} strings, each of 1 to ${length} characters`,
      );
    },
    optionalCount: (field, most) => optionalWhole(field, 1, most),
    optionalNumber: (field, most) => optionalWhole(field, 0, most),
    optionalFlag: (field) => {
      const value = body[field];
      if (value === undefined || typeof value === "boolean") return value;
      throw invalidField(field, "true or false");
    },
  };
}

function isText(value: unknown, most: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= most;
}
