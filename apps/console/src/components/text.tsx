import type { ReactNode } from "react";
import { visibleParts, visibleText } from "./visible-text.js";

/**
 * Text that somebody else chose: a name, an id, a reason. Never markup; what would not be seen is shown by its number, and its
 * direction stays its own.
 */
export function Text({
  value,
  isWrapped = false,
}: {
  readonly value: string;
  /** On the pages of details text is shown whole; in tables it is cut to its cell. */
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
