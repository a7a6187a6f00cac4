import type { ReactNode } from "react";
import { Text } from "./text.js";

/** A sentence of the gateway; the parts between backticks become code. */
export function InlineCode({ text }: { readonly text: string }): ReactNode {
  return text.split("`").map((part, at) =>
    at % 2 === 1 ? (
      <code key={`${at}${part}`}>
        <Text value={part} isWrapped />
      </code>
    ) : (
      part
    ),
  );
}
