import type { ReactNode } from "react";
import { Text } from "./text.js";
import { visibleText } from "./visible-text.js";

/** The rule of a decision, and before it how many others would have said the same; their names on hover. */
export function RuleNames({
  rule,
  further = [],
}: {
  readonly rule: string;
  readonly further?: readonly string[] | undefined;
}): ReactNode {
  const others = visibleText(further.join(", "));
  return (
    <>
      {further.length === 0 ? null : (
        <span className="faint" title={others}>
          <span aria-hidden="true">+{further.length}</span>
          <span className="unseen">also {others}</span>{" "}
        </span>
      )}
      <Text value={rule} />
    </>
  );
}
