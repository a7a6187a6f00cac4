import type { ReactNode } from "react";
import { visibleParts, visibleText } from "./visible-text.js";

/**
 * Text that an agent or a browser chose: a name, an id, a reason. It is never markup. An invisible character
 * is displayed by its code point, and the text keeps its own direction.
 */
export function Text({
  value,
  isWrapped = false,
}: {
  readonly value: string;
  /** Detail pages wrap the text; tables cut it to the cell. */
  readonly isWrapped?: boolean;
}): ReactNode {
  if (value === "") return <span className="faint">–</span>;
  const parts = visibleParts(value);
  return (
    <bdi
      className={isWrapped ? "text wrapped" : "text"}
      title={isWrapped ? undefined : visibleText(value)}
    >
      {parts.map(({ text, isEscape }, at) =>
        isEscape ? (
          <span key={at} className="escape">
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </bdi>
  );
}
