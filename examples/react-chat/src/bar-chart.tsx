import type { ReactNode } from "react";

const MOST = 100;

/** The agent chooses title and values, so neither is trusted to be what it should. */
export function BarChart({ title, values }: { title?: unknown; values?: unknown }): ReactNode {
  const numbers = Array.isArray(values)
    ? values.slice(0, MOST).map(Number).filter(Number.isFinite)
    : [];
  const highest = Math.max(1, ...numbers);
  return (
    <figure>
      <figcaption>{String(title ?? "Chart")}</figcaption>
      <div className="bars" role="img" aria-label={numbers.join(", ")}>
        {numbers.map((value, index) => (
          <span key={index} style={{ height: `${(value / highest) * 100}%` }} />
        ))}
      </div>
    </figure>
  );
}
