import type { ReactNode } from "react";

/** The product's sign. */
export function Mark(): ReactNode {
  return (
    <svg className="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent-strong)" />
      <path
        d="M9 16.5l5 5 9.5-11"
        fill="none"
        stroke="#fff"
        strokeWidth="3.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
