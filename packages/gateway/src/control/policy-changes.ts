import { CountersignError } from "@countersign/core";
import type { PolicyIssue, ReplaceResult } from "@countersign/policy";
import { setPolicyMode } from "@countersign/policy/yaml";
import { readRegularFile } from "../base/files.js";
import type { Clock } from "../base/ports.js";
import { isRewritable, rewriteFile } from "../base/rewrite-file.js";
import "../base/errors.js";
import type { OperatorActs } from "./operator-acts.js";
import type { PolicyHistory, PolicySource } from "./policy-history.js";
import type { OpenPolicy } from "./ports.js";
import { invalidField } from "./problem.js";

/** Parts of {@link PolicyChanges}. */
export type PolicyChangeParts = {
  readonly policy: OpenPolicy;
  readonly history: PolicyHistory;
  readonly clock: Clock;
  /** Reads the file again and logs the result. */
  reload(source: PolicySource): ReplaceResult;
};

/** The operator of a change, and how it reached the gateway. */
export type PolicyChanger = { readonly acts: OperatorActs; readonly source: PolicySource };

/** A change that an operator requests. */
export type PolicyChange = {
  readonly act: "policy-apply" | "policy-rollback" | "policy-mode";
  readonly text: string;
  /** The hash of the policy that the operator saw. */
  readonly expect: string;
  readonly comment?: string;
};

/** The result of a change, or the problems of the text. */
export type PolicyChangeResult =
  | { readonly hash: string; readonly changed: boolean }
  | { readonly issues: readonly PolicyIssue[] };

/** More than a policy may have. */
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * Changes the policy. The file is the truth: a change is written to it and then read from it. Changes run one after the
 * other, each against the policy that its operator saw, and none happens without a receipt.
 */
export class PolicyChanges {
  readonly #parts: PolicyChangeParts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: PolicyChangeParts) {
    this.#parts = parts;
    const { policy, history, clock } = parts;
    const { hash } = policy.holder.current;
    // The file was edited while the gateway was down.
    if (history.items[0]?.hash !== hash) {
      const [operator, source] = ["<file>", "file"] as const;
      void history.add({ hash, applied_at: clock.now(), operator, source, text: policy.text() });
    }
  }

  /** Whether the policy can be changed through this gateway. */
  get isWritable(): boolean {
    const { file } = this.#parts.policy;
    return file !== undefined && isRewritable(file);
  }

  /** Reads the file again. The reload is done even when its receipt cannot be written. */
  reload({ acts, source }: PolicyChanger): {
    readonly result: ReplaceResult;
    /** Resolves when receipt and history have it. */
    readonly recorded: Promise<unknown>;
  } {
    const result = this.#parts.reload(source);
    if (!result.replaced) return { result, recorded: Promise.resolve() };
    const noted = acts.note({ act: "policy-reload" });
    const kept = result.changed ? this.#remember(acts.operator, source) : undefined;
    return { result, recorded: Promise.all([noted, kept]) };
  }

  /**
   * Writes the text to the policy file and reads it from there.
   *
   * @throws CountersignError `ERR_CONTROL_POLICY_READ_ONLY`, `ERR_CONTROL_POLICY_CHANGED`, or the error of the log: then
   * nothing was written
   */
  apply(changer: PolicyChanger, change: PolicyChange): Promise<PolicyChangeResult> {
    const applied = this.#last.then(() => this.#apply(changer, change));
    this.#last = applied.catch(() => undefined);
    return applied;
  }

  /** Writes the text of an earlier policy again. */
  async rollback(
    changer: PolicyChanger,
    {
      hash,
      ...rest
    }: { readonly hash: string; readonly expect: string; readonly comment?: string },
  ): Promise<PolicyChangeResult> {
    const { history, policy } = this.#parts;
    const found = history.items.find((item) => item.hash === hash && item.text !== undefined);
    const check = found?.text === undefined ? undefined : policy.check(found.text);
    if (found?.text === undefined || check?.policy?.hash !== hash) {
      const why =
        found === undefined
          ? "The history has no text of this policy"
          : "The text of this policy now gives another one, because a file that it extends changed";
      throw new CountersignError(
        "ERR_CONTROL_POLICY_UNKNOWN",
        `${why}. Fix: choose another entry of GET /v1/policy/history, or apply a text`,
        { hash },
      );
    }
    return this.apply(changer, { act: "policy-rollback", text: found.text, ...rest });
  }

  /** Changes the mode of one block in the text of the file; comments stay. */
  setMode(
    changer: PolicyChanger,
    change: {
      readonly block: string;
      readonly mode: "observe" | "enforce";
      readonly expect: string;
      readonly comment?: string;
    },
  ): Promise<PolicyChangeResult> {
    const { block, mode, ...rest } = change;
    const text = setPolicyMode(this.#parts.policy.text(), block, mode);
    if (text === undefined) {
      const expected =
        "policy, or a block that the policy file has itself with at least one setting";
      throw invalidField("block", expected);
    }
    return this.apply(changer, { act: "policy-mode", text, ...rest });
  }

  async #apply(
    { acts, source }: PolicyChanger,
    { act, text, expect, comment }: PolicyChange,
  ): Promise<PolicyChangeResult> {
    const { policy, reload } = this.#parts;
    const { file } = policy;
    if (file === undefined || !isRewritable(file)) throw readOnly(file);
    const before = policy.holder.current.hash;
    if (expect !== before || readText(file) !== policy.text()) throw changed(before);
    const { policy: candidate, issues } = policy.check(text);
    if (candidate === undefined) return { issues };
    const { hash } = candidate;
    await acts.record({ act, hash, ...(comment === undefined ? {} : { comment }) });
    // The receipt says what was asked for; the next one, that the policy in force is another.
    const giveUp = async (why: CountersignError): Promise<never> => {
      await acts.note({ act: "policy-reload" });
      throw why;
    };
    // An operator may have edited the file, or it may have been read again, while the log wrote the receipt.
    const { hash: now } = policy.holder.current;
    if (now !== before || readText(file) !== policy.text()) return giveUp(changed(now));
    try {
      await rewriteFile(file, text);
    } catch {
      return giveUp(readOnly(file));
    }
    const result = reload(source);
    if (!result.replaced) return { issues: result.issues };
    await this.#remember(acts.operator, source, comment);
    return { hash: result.policy.hash, changed: result.policy.hash !== before };
  }

  #remember(operator: string, source: PolicySource, comment?: string): Promise<void> {
    const { policy, history, clock } = this.#parts;
    return history.add({
      hash: policy.holder.current.hash,
      applied_at: clock.now(),
      operator,
      source,
      ...(comment === undefined ? {} : { comment }),
      text: policy.text(),
    });
  }
}

function readText(file: string): string | undefined {
  try {
    return readRegularFile(file, MAX_BYTES).toString("utf8");
  } catch {
    return undefined;
  }
}

function readOnly(file: string | undefined): CountersignError {
  return file === undefined
    ? new CountersignError(
        "ERR_CONTROL_POLICY_READ_ONLY",
        "The built-in policy is in force, which cannot be changed. Fix: name a file in policy of countersign.yaml",
        {},
      )
    : new CountersignError(
        "ERR_CONTROL_POLICY_READ_ONLY",
        "The gateway cannot write its policy file. Fix: change the file where it is kept, or give the gateway's user write access to it and its folder",
        { file },
      );
}

function changed(hash: string): CountersignError {
  return new CountersignError(
    "ERR_CONTROL_POLICY_CHANGED",
    "The policy or its file changed since you read it. Fix: load the policy again and repeat the change",
    { hash },
  );
}
