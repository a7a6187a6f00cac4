import type { CompiledPolicy } from "../compile/compile.js";
import { compilePolicy } from "../compile/compile.js";
import type { PolicyIssue } from "../document/issue.js";
import type { LoadOptions } from "../document/load.js";
import { readPolicy } from "../document/load.js";
import type { PolicyNote } from "../document/note.js";

/** The result of an attempt to change the policy. */
export type ReplaceResult =
  | {
      readonly replaced: true;
      readonly policy: CompiledPolicy;
      readonly changed: boolean;
      readonly notes: readonly PolicyNote[];
    }
  | { readonly replaced: false; readonly issues: readonly PolicyIssue[] };

/** The active policy, which can be replaced. */
export type PolicyHolder = {
  /** The last policy that loaded. */
  readonly current: CompiledPolicy;
  /** Problems of the last attempt, empty after a success: reported by health checks. */
  readonly issues: readonly PolicyIssue[];
  /** Loads a new text, or keeps the current policy when the text is invalid. */
  replace(text: string, options?: LoadOptions): ReplaceResult;
};

/** Holds one policy; a change is applied completely or not at all. */
export function createPolicyHolder(initial: CompiledPolicy): PolicyHolder {
  let current = initial;
  let issues: readonly PolicyIssue[] = [];
  return {
    get current() {
      return current;
    },
    get issues() {
      return issues;
    },
    replace(text, options) {
      const result = readPolicy(text, options);
      issues = result.issues;
      if (result.policy === undefined) return { replaced: false, issues };
      const policy = compilePolicy(result.policy);
      const changed = policy.hash !== current.hash;
      if (changed) current = policy;
      return { replaced: true, policy: current, changed, notes: result.policy.notes };
    },
  };
}
