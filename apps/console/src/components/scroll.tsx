import type { ReactNode } from "react";

/** What may be wider than the screen; arrows move it too. */
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
