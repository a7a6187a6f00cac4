import type { ReactNode } from "react";

/** A container that scrolls sideways, also with the arrow keys. */
export function Scroll({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={title}>
      {children}
    </div>
  );
}
