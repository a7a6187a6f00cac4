import type { JsonObject } from "@countersign/core";
import { canonicalJson, CountersignError, sha256Hex } from "@countersign/core";
import { POLICY_SCHEMA } from "../schema/policy-schema.js";
import { BUILTIN_POLICIES, builtinNameOf, FOREIGN_BUILTINS } from "./builtin.js";
import type { FileDocument } from "./fragment.js";
import { HUSHSPEC_VERSION, normaliseFile } from "./fragment.js";
import type { PolicyIssue } from "./issue.js";
import { formatIssue } from "./issue.js";
import type { PolicyLimits } from "./limits.js";
import { DEFAULT_POLICY_LIMITS } from "./limits.js";
import { lintFile } from "./lint.js";
import { mergeFiles } from "./merge.js";
import type { PolicyDocument } from "./model.js";
import { hasAgUiBlock } from "./model.js";
import type { PolicyNote } from "./note.js";
import { readYaml } from "./read-yaml.js";
import { checkRules } from "./semantics.js";
import type { PositionTable } from "./source.js";
import { issueAt } from "./source.js";
import { validateAgainstSchema } from "./validate.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** An invalid policy document, with every problem and its position. */
    ERR_POLICY_INVALID: { file: string; issues: readonly PolicyIssue[] };
  }
}

/**
 * Finds the file that an `extends` names, relative to its own file. `file` is its canonical name.
 */
export type PolicyReader = (
  reference: string,
  from: string,
) => { readonly file: string; readonly text: string } | undefined;

/** Options of {@link loadPolicy}. */
export type LoadOptions = {
  /** The name for messages. */
  readonly file?: string;
  /** Without one, only built-in policies can be extended. */
  readonly reader?: PolicyReader;
  readonly limits?: Partial<PolicyLimits>;
};

/** A policy that may be compiled. */
export type LoadedPolicy = {
  readonly document: PolicyDocument;
  /** SHA-256 (hex) of the canonical JSON of the resolved document. */
  readonly hash: string;
  /** All source files, the given one first. */
  readonly files: readonly string[];
  readonly notes: readonly PolicyNote[];
};

/** Either a policy or every problem found. */
export type LoadResult =
  | { readonly policy: LoadedPolicy; readonly issues: readonly [] }
  | { readonly policy: undefined; readonly issues: readonly PolicyIssue[] };

/**
 * Loads a policy.
 *
 * @throws ERR_POLICY_INVALID with every problem and its position
 */
export function loadPolicy(text: string, options: LoadOptions = {}): LoadedPolicy {
  const { policy, issues } = readPolicy(text, options);
  if (policy !== undefined) return policy;
  const file = options.file ?? "policy.yaml";
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  throw new CountersignError(
    "ERR_POLICY_INVALID",
    first === undefined ? "the policy does not load" : `${formatIssue(first)}${more}`,
    { file, issues },
  );
}

/** Loads a policy and reports problems as values. */
export function readPolicy(text: string, options: LoadOptions = {}): LoadResult {
  const limits = { ...DEFAULT_POLICY_LIMITS, ...options.limits };
  const file = options.file ?? "policy.yaml";
  const notes: PolicyNote[] = [];
  const chain: FileDocument[] = [];
  const files: string[] = [];
  let next: { file: string; text: string } | undefined = { file, text };
  while (next !== undefined) {
    files.push(next.file);
    const read = readFile(next.text, next.file, limits);
    if (read.document === undefined) return { policy: undefined, issues: read.issues };
    chain.push(read.document);
    notes.push(...read.notes);
    const parent = findParent(read.document, read.positions, files, options.reader, limits);
    if (parent.issue !== undefined) return { policy: undefined, issues: [parent.issue] };
    next = parent.source;
  }
  const merged = chain.reduceRight((base, child) => mergeFiles(base, child));
  const document = toDocument(merged);
  return {
    policy: {
      document,
      hash: hashDocument(document),
      files,
      notes: [...notes, ...lintDocument(document, file)],
    },
    issues: [],
  };
}

/** SHA-256 (hex) of a document's canonical JSON: independent of key order and layout. */
export function hashDocument(document: PolicyDocument): string {
  return sha256Hex(canonicalJson(document as JsonObject));
}

type FileResult =
  | { document: FileDocument; positions: PositionTable; notes: PolicyNote[]; issues: [] }
  | { document: undefined; issues: readonly PolicyIssue[] };

function readFile(text: string, file: string, limits: PolicyLimits): FileResult {
  const read = readYaml(text, file, limits);
  if (read.value === undefined) return { document: undefined, issues: read.issues };
  const { value, positions } = read;
  const shape = validateAgainstSchema(POLICY_SCHEMA, value, positions, limits.maxIssues);
  const { document, issues, notes } = normaliseFile(value, positions);
  // Expressions are compiled only in valid documents, so that nothing unchecked reaches a compiler.
  const problems =
    shape.length > 0
      ? [...shape, ...issues]
      : [...issues, ...checkRules(document.rules, document.rulesPointer, positions)];
  if (problems.length > 0) {
    return { document: undefined, issues: problems.toSorted(byPlace).slice(0, limits.maxIssues) };
  }
  return { document, positions, notes: [...notes, ...lintFile(document, positions)], issues: [] };
}

function byPlace(left: PolicyIssue, right: PolicyIssue): number {
  return left.line - right.line || left.column - right.column;
}

function findParent(
  document: FileDocument,
  positions: PositionTable,
  files: readonly string[],
  reader: PolicyReader | undefined,
  limits: PolicyLimits,
): { source: { file: string; text: string } | undefined; issue?: PolicyIssue } {
  const reference = document.header["extends"];
  if (typeof reference !== "string") return { source: undefined };
  const fail = (message: string) => ({
    source: undefined,
    issue: issueAt(positions, "/extends", "extends", message),
  });
  const shown = reference.slice(0, 200);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(reference)) {
    return fail("only files and built-in policies can be extended, not addresses");
  }
  const { name, isNamed } = builtinNameOf(reference);
  const builtin = BUILTIN_POLICIES.get(name);
  if (builtin !== undefined) return { source: { file: `builtin:${name}`, text: builtin } };
  if (FOREIGN_BUILTINS.has(name)) {
    return fail(`the built-in policy "${shown}" is not about AG-UI and is not shipped here`);
  }
  if (isNamed) {
    const known = [...BUILTIN_POLICIES.keys()].join(", ");
    return fail(`unknown built-in policy "${shown}"; known are ${known}`);
  }
  const from = files.at(-1) ?? "";
  const found = reader?.(reference, from);
  if (found === undefined) {
    const why = reader === undefined ? ": no files are read here, only built-in policies" : "";
    return fail(`cannot read "${shown}", which this policy extends${why}`);
  }
  if (files.includes(found.file)) {
    return fail(`circular extends detected: ${[...files, found.file].join(" -> ")}`);
  }
  if (files.length >= limits.maxExtends) {
    return fail(`more than ${limits.maxExtends} files extend each other`);
  }
  return { source: found };
}

function toDocument({ header, rules }: FileDocument): PolicyDocument {
  const { extends: _extends, merge_strategy: _strategy, ...rest } = header;
  return { ...rest, hushspec: HUSHSPEC_VERSION, rules } as PolicyDocument;
}

function lintDocument(document: PolicyDocument, file: string): PolicyNote[] {
  const { rules } = document;
  if (rules.ag_ui?.enabled !== false && hasAgUiBlock(rules)) return [];
  return [
    {
      code: "denies-everything",
      message: "no enabled ag_ui block: this policy denies every event",
      file,
      line: 1,
      column: 1,
      path: "",
    },
  ];
}
