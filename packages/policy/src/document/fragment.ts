import type { JsonObject } from "@countersign/core";
import { BLOCK_SCHEMAS } from "../schema/policy-schema.js";
import type { PolicyIssue } from "./issue.js";
import { asObject } from "../base/json-object.js";
import type { PolicyNote } from "./note.js";
import type { PositionTable } from "./source.js";
import { issueAt } from "./source.js";

/** The supported version of the document format. */
export const HUSHSPEC_VERSION = "0.1.0";

/** One file with its blocks under `rules`, in either layout. */
export type FileDocument = {
  readonly header: JsonObject;
  readonly rules: JsonObject;
  /** Pointer of the mapping that contains the blocks. */
  readonly rulesPointer: "" | "/rules";
};

/**
 * Normalizes fragments (blocks at the top level, as guides print them) and whole documents to one
 * form.
 */
export function normaliseFile(
  value: JsonObject,
  positions: PositionTable,
): { document: FileDocument; issues: PolicyIssue[]; notes: PolicyNote[] } {
  const issues: PolicyIssue[] = [];
  const notes: PolicyNote[] = [];
  const header: JsonObject = {};
  const loose: JsonObject = {};
  for (const [key, entry] of Object.entries(value)) {
    if (Object.hasOwn(BLOCK_SCHEMAS, key)) loose[key] = entry;
    else if (key !== "rules") header[key] = entry;
  }
  const rules = Object.hasOwn(value, "rules") ? value["rules"] : undefined;
  const isFragment = Object.keys(loose).length > 0;
  if (rules !== undefined && isFragment) {
    const [key = ""] = Object.keys(loose);
    issues.push(
      issueAt(positions, "", "conflict", `"${key}" stands beside "rules"; put it under "rules"`, {
        key,
      }),
    );
  }
  checkVersion(header, isFragment, positions, issues, notes);
  return {
    document: {
      header,
      rules: isFragment ? loose : (asObject(rules) ?? {}),
      rulesPointer: isFragment ? "" : "/rules",
    },
    issues,
    notes,
  };
}

function checkVersion(
  header: JsonObject,
  isFragment: boolean,
  positions: PositionTable,
  issues: PolicyIssue[],
  notes: PolicyNote[],
): void {
  const version = header["hushspec"];
  if (version === undefined) {
    if (isFragment) {
      notes.push({
        ...issueAt(positions, "", "missing-key", "a fragment: no hushspec version is given"),
        code: "fragment",
      });
    } else {
      issues.push(
        issueAt(positions, "", "missing-key", 'the document needs the key "hushspec" (0.1.0)'),
      );
    }
  } else if (typeof version === "string" && version !== HUSHSPEC_VERSION) {
    issues.push(
      issueAt(
        positions,
        "/hushspec",
        "bad-value",
        `unsupported hushspec version: ${version.slice(0, 32)}`,
      ),
    );
  }
}
