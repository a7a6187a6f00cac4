import type { OpenPolicy, PolicyReloads } from "../control/ports.js";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isCountersignError } from "@countersign/core";
import { compilePolicy, createPolicyHolder, loadPolicy, readPolicy } from "@countersign/policy";
import type { LoadOptions, PolicyIssue, ReplaceResult } from "@countersign/policy";
import { readRegularFile, stateOf } from "../base/files.js";

/** Maximum size of a policy file, above the character limit of its parser. */
export const MAX_POLICY_BYTES = 2 * 1024 * 1024;

const CANDIDATE = "candidate";

/** Opens the policy file, or the built-in starter when the configuration names none. */
export function openPolicy(file: string | undefined): OpenPolicy {
  let seen = new Map<string, string>();
  const read = (): { text: string; options: LoadOptions } => {
    seen = new Map(file === undefined ? [] : [[file, stateOf(file)]]);
    return {
      text: file === undefined ? STARTER_POLICY : readPolicyText(file),
      options: {
        file: file ?? "starter policy",
        // `extends` names files relative to the file that contains it.
        reader: (reference, from) => {
          const referenced = resolve(dirname(from), reference);
          if (!existsSync(referenced)) return undefined;
          // Taken before the read: an unreadable file is watched too.
          if (!seen.has(referenced)) seen.set(referenced, stateOf(referenced));
          return { file: referenced, text: readPolicyText(referenced) };
        },
      },
    };
  };
  const { text, options } = read();
  const holder = createPolicyHolder(compilePolicy(loadPolicy(text, options)));
  let active = text;
  let reloads: PolicyReloads = { ok: 0, failed: 0, isStale: false, issues: [] };
  const attempt = (): ReplaceResult => {
    try {
      const again = read();
      const result = holder.replace(again.text, again.options);
      if (result.replaced) active = again.text;
      return result;
    } catch (error) {
      // The file is missing or unreadable: reported like an invalid one.
      return { replaced: false, issues: [unreadable(file ?? "", error)] };
    }
  };
  return {
    holder,
    file,
    text: () => active,
    check: (candidate) =>
      readPolicy(candidate, {
        // Problems are those of the candidate, not of the file.
        file: CANDIDATE,
        reader: (reference, from) => {
          const base = from === CANDIDATE ? (file ?? "") : from;
          const referenced = resolve(dirname(base), reference);
          // Text from a request must not make this process read any other file.
          const isExtended = referenced !== file && seen.has(referenced);
          if (!isExtended || !existsSync(referenced)) return undefined;
          return { file: referenced, text: readPolicyText(referenced) };
        },
      }),
    reload: () => {
      const result = attempt();
      reloads = {
        ok: reloads.ok + (result.replaced ? 1 : 0),
        failed: reloads.failed + (result.replaced ? 0 : 1),
        isStale: !result.replaced,
        issues: result.replaced ? [] : result.issues,
      };
      return result;
    },
    get reloads() {
      return reloads;
    },
    files: () => [...seen.keys()],
    seen: () => seen,
  };
}

function readPolicyText(file: string): string {
  return readRegularFile(file, MAX_POLICY_BYTES).toString("utf8");
}

function unreadable(file: string, error: unknown): PolicyIssue {
  const reason = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
  const isRefused =
    isCountersignError(error, "ERR_FILE_KIND") || isCountersignError(error, "ERR_FILE_TOO_LARGE");
  return {
    file,
    line: 1,
    column: 1,
    path: "",
    code: "bad-value",
    message: isRefused ? error.message : `cannot be read (${reason})`,
  };
}

/**
 * The policy without a policy file: it allows chat, without anything that a page would load, run or hide; everything
 * else needs a capability.
 */
export const STARTER_POLICY = `hushspec: "0.1.0"
name: starter
rules:
  ag_ui:
    enabled: true
    allow_display_without_capability: true
    max_events_per_second: 10000
  ag_ui_content:
    enabled: true
  ag_ui_inbound:
    enabled: true
    default: block
    allow_classifications: [display, mutate, submit]
`;
