import { useState } from "react";
import type { ReactNode } from "react";
import type { Comparison, Policy } from "../api/responses.js";
import { ControlProblem, fetchJson } from "../api/request.js";
import { announce } from "../components/announce.js";
import { Confirm } from "../components/dialog.js";
import { Field } from "../components/field.js";
import { useMissingRole } from "../components/needs-role.js";
import { Failure } from "../components/states.js";
import { Text } from "../components/text.js";
import { effectSays } from "./comparison-result.js";
import { PolicyIssues } from "./policy-issues.js";

/** Why the policy cannot be changed from here; `undefined` if it can. */
export function useReadOnly(policy: Policy): string | undefined {
  const missing = useMissingRole("admin");
  if (missing !== undefined) return missing;
  if (policy.writable === true) return undefined;
  if (policy.writable === undefined) return "This gateway does not offer changes of its policy.";
  return policy.file === undefined
    ? "The built-in policy is active: there is no file to write. Set policy in countersign.yaml."
    : "The gateway cannot write the policy file (it is read-only). Change the file where it comes from and reload.";
}

/** Writes a candidate to the policy file after a confirmation that says what it changes. */
export function ApplyPolicy({
  policy,
  text,
  comparison,
  onDone,
}: {
  readonly policy: Policy;
  readonly text: string;
  readonly comparison: Comparison | undefined;
  readonly onDone: (isApplied: boolean) => void;
}): ReactNode {
  const [comment, setComment] = useState("");
  return (
    <ChangePolicy
      title="Apply this policy?"
      action="Apply"
      path="/v1/policy/apply"
      body={{ text, expect: policy.hash, ...(comment.trim() === "" ? {} : { comment }) }}
      done="The policy was applied"
      onDone={onDone}
    >
      <p>
        The gateway writes{" "}
        <strong>
          <Text value={policy.file ?? "the policy file"} isWrapped />
        </strong>{" "}
        and decides by it from now on. Open runs keep the policy that they started with.
      </p>
      <p>
        {comparison === undefined
          ? "You have not compared this candidate with the active policy."
          : effectSays(comparison)}
      </p>
      <Field title="Comment for the history (optional)" value={comment} onChange={setComment} />
    </ChangePolicy>
  );
}

/** Asks, then changes the policy; a policy that changed meanwhile is told, and nothing is written. */
export function ChangePolicy({
  title,
  action,
  path,
  body,
  done,
  onDone,
  children,
}: {
  readonly title: string;
  readonly action: string;
  readonly path: string;
  readonly body: object;
  readonly done: string;
  readonly onDone: (isDone: boolean) => void;
  readonly children: ReactNode;
}): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ControlProblem>();
  const change = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await fetchJson(path, { method: "POST", body });
      announce(done);
      onDone(true);
    } catch (error) {
      if (error instanceof ControlProblem) setProblem(error);
      setBusy(false);
    }
  };
  return (
    <Confirm
      title={title}
      action={action}
      isBusy={isBusy}
      onYes={change}
      onNo={() => onDone(false)}
    >
      {children}
      {problem === undefined ? null : problem.status === 422 ? (
        <div className="notice bad" role="alert">
          <strong>The policy does not load, so nothing was written.</strong>
          <PolicyIssues issues={(problem.body as Pick<Policy, "issues">).issues} />
        </div>
      ) : (
        <Failure problem={problem} />
      )}
    </Confirm>
  );
}
