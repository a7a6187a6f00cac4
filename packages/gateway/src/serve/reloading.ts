import { formatIssue } from "@countersign/policy/yaml";
import type { ReplaceResult } from "@countersign/policy";
import type { Journal } from "../base/ports.js";
import type { PolicySource } from "../control/policy-history.js";
import type { OpenPolicy } from "../control/ports.js";
import type { OpenTokens } from "../control/ports.js";
import { watchFiles } from "./watch-files.js";
import type { FileWatch } from "./watch-files.js";

/** Reloads the policy and logs the result. */
export function reloadPolicy(
  policy: OpenPolicy,
  journal: Journal,
  cause: PolicySource,
): ReplaceResult {
  const result = policy.reload();
  if (result.replaced) {
    const { hash, mode } = result.policy;
    journal.info({ cause, hash, mode, changed: result.changed }, "policy reloaded");
  } else {
    const [first] = result.issues;
    journal.error(
      {
        cause,
        code: "POLICY_KEPT",
        hash: policy.holder.current.hash,
        issues: result.issues.length,
        ...(first === undefined ? {} : { first: formatIssue(first) }),
      },
      "the policy could not be reloaded; the last valid policy stays active",
    );
  }
  return result;
}

/** Watches the files of the policy and of the revocations. */
export function followFiles(parts: {
  policy: OpenPolicy;
  tokens: OpenTokens;
  journal: Journal;
  /** Reloads the policy because a file changed. */
  onPolicyChange(): void;
}): FileWatch {
  const { policy, tokens, journal, onPolicyChange } = parts;
  const watches = [
    watchFiles(policy.seen, onPolicyChange),
    watchFiles(tokens.seen, () => reread(tokens, journal)),
  ];
  return {
    stop: () => {
      for (const watch of watches) watch.stop();
    },
  };
}

function reread(tokens: OpenTokens, journal: Journal): void {
  const reason = tokens.reread();
  if (reason === undefined) {
    journal.info({ revoked: tokens.revocations.count }, "revocations reloaded");
  } else {
    journal.error(
      { code: "REVOCATIONS_KEPT", reason },
      "the revocation file cannot be read; known revocations stay in effect",
    );
  }
}
