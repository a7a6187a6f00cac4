import { CountersignError, decodeHex, encodeBase64Url, sha256, sha256Hex } from "@countersign/core";
import { randomBytes, timingSafeEqual } from "node:crypto";
import { readRegularFile } from "../base/files.js";
import type { Clock, Journal } from "../base/ports.js";
import { KEY_HASH } from "./api-keys.js";
import type { NewApiKey } from "./api-keys.js";
import { followList } from "./key-file.js";
import "../base/errors.js";

/** The roles of operators; each includes the ones before it. */
export const ROLES = ["viewer", "operator", "admin"] as const;

/** What an operator may do. */
export type Role = (typeof ROLES)[number];

/** Whether a role includes another. */
export function includesRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** An operator with a token of their own; only its SHA-256 is stored. */
export type OperatorEntry = { readonly name: string; readonly role: Role; readonly hash: string };

/** Operators in one list; a token is compared with each. */
const MAX_OPERATORS = 1000;
const MAX_LIST_BYTES = 1024 * 1024;
const NAME = /^[\w.@-]{1,128}$/u;
/** The name of an admin token in the log; nobody else may have it. */
const ADMIN_TOKEN_NAME = /^admin-[0-9a-f]{8}$/u;

/** Says why a name cannot be the name of an operator; `undefined` if it can. */
export function operatorNameProblem(name: string): string | undefined {
  if (!NAME.test(name)) return "a name has 1 to 128 letters, digits and any of . @ _ -";
  return ADMIN_TOKEN_NAME.test(name)
    ? "admin- and eight hex digits is the name of an admin token; choose another name"
    : undefined;
}

/** Parses lines of `NAME ROLE sha256:HEX`; empty lines and lines that begin with `#` are ignored. */
export function parseOperators(text: string, file: string): OperatorEntry[] {
  const entries: OperatorEntry[] = [];
  text.split(/\r?\n/u).forEach((raw, index) => {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) return;
    const fail = (why: string): CountersignError => {
      const place = { file, line: index + 1 };
      return new CountersignError("ERR_OPERATORS_LIST", `${file}:${index + 1}: ${why}`, place);
    };
    const [name = "", word = "", hash = "", ...rest] = line.split(/\s+/u);
    const role = ROLES.find((one) => one === word);
    if (role === undefined || !KEY_HASH.test(hash) || rest.length > 0) {
      throw fail(
        `expected NAME ROLE sha256:HEX with a role of ${ROLES.join(", ")}. Fix: run countersign operators add NAME --role ROLE`,
      );
    }
    const problem = operatorNameProblem(name);
    if (problem !== undefined) throw fail(problem);
    if (entries.some((entry) => entry.name === name)) {
      throw fail(`${name} has two lines. Fix: remove one; a receipt must name one operator`);
    }
    if (entries.length >= MAX_OPERATORS) throw fail(`at most ${MAX_OPERATORS} operators`);
    entries.push({ name, role, hash });
  });
  return entries;
}

/** Reads the operators of a file. */
export function readOperatorsFile(file: string): OperatorEntry[] {
  return parseOperators(readRegularFile(file, MAX_LIST_BYTES).toString("utf8"), file);
}

/** The operators of the configuration and of a file, which is followed: removing a line ends access in about a second. */
export type OperatorList = {
  /** The operator with this token. */
  find(token: string): OperatorEntry | undefined;
  /** The role of an operator now; `undefined` when the operator was removed or has another token. */
  roleOf(entry: OperatorEntry): Role | undefined;
};

/** Opens the list of operators. A name in the configuration hides the same name in the file. */
export function openOperators(
  configured: readonly OperatorEntry[],
  file: string | undefined,
  { clock, journal }: { readonly clock: Clock; readonly journal: Journal },
): OperatorList {
  const followed =
    file === undefined
      ? (): readonly OperatorEntry[] => []
      : followList({
          file,
          clock,
          journal,
          read: readOperatorsFile,
          what: "operators",
          missing: () => missingList(file),
        });
  const all = (): OperatorEntry[] => {
    const names = new Set(configured.map(({ name }) => name));
    return [...configured, ...followed().filter(({ name }) => !names.has(name))];
  };
  return {
    find: (token) => {
      const shown = sha256(token);
      let found: OperatorEntry | undefined;
      // Every entry is compared, so that timing does not reveal the matching one.
      for (const entry of all()) {
        if (timingSafeEqual(decodeHex(entry.hash.slice("sha256:".length)), shown)) found = entry;
      }
      return found;
    },
    roleOf: ({ name, hash }) =>
      all().find((entry) => entry.name === name && entry.hash === hash)?.role,
  };
}

/** The error for a file of operators that does not exist. */
export function missingList(file: string): CountersignError {
  return new CountersignError(
    "ERR_OPERATORS_LIST",
    `${file} does not exist. Fix: run countersign operators add NAME --role admin, which creates it, or remove control.operators_file`,
    { file, line: 0 },
  );
}

/** The prefix of every token of an operator, by which scanners for leaked secrets recognise it. */
const PREFIX = "cso_";

/** Creates a token of 256 random bits for an operator, and the hash to store. */
export function createOperatorToken(): NewApiKey {
  const key = PREFIX + encodeBase64Url(randomBytes(32));
  return { key, hash: `sha256:${sha256Hex(key)}` };
}
