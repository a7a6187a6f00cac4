import type { ReactNode } from "react";
import type { PolicyIssue } from "../api/responses.js";
import { Text } from "../components/text.js";

/** The errors in a policy's text, each with its position. */
export function PolicyIssues({ issues }: { readonly issues: readonly PolicyIssue[] }): ReactNode {
  return (
    <ul className="issues">
      {issues.map((issue) => (
        <li key={`${issue.file}:${issue.line}:${issue.column}:${issue.message}`}>
          <code>
            <Text value={`${issue.file}:${issue.line}:${issue.column}`} isWrapped />
          </code>{" "}
          <Text value={issue.message} isWrapped />
          {issue.suggestion === undefined ? null : (
            <>
              {" "}
              (did you mean <Text value={issue.suggestion} isWrapped />
              ?)
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
