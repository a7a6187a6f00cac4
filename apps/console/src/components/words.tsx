import type { ReactNode } from "react";
import { Text } from "./text.js";

/** A sentence of the gateway's own, with what it has between backticks as code. */
export function Words({ text }: { readonly text: string }): ReactNode {
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
