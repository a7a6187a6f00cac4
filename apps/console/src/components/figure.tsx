import type { ReactNode } from "react";

/** One fact, large, with what explains it. */
export function Figure({
  title,
  note,
  href,
  children,
}: {
  readonly title: string;
  readonly note?: ReactNode;
  readonly href?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="figure">
      <p className="figure-title">{href === undefined ? title : <a href={href}>{title}</a>}</p>
      <p className="figure-value">{children}</p>
      <p className="figure-note">{note}</p>
    </div>
  );
}
