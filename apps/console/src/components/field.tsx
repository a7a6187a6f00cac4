import type { ReactNode } from "react";

/** A text field with its name above it. */
export function Field({
  title,
  value,
  onChange,
  isFilter = false,
  list,
  type = "text",
}: {
  readonly title: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The one that `/` leads to. */
  readonly isFilter?: boolean;
  readonly list?: string;
  readonly type?: "text" | "number" | "datetime-local";
}): ReactNode {
  return (
    <label className="field">
      <span>
        {title}
        {isFilter ? <kbd aria-hidden="true">/</kbd> : null}
      </span>
      <input
        type={type}
        value={value}
        list={list}
        maxLength={type === "text" ? 1024 : undefined}
        spellCheck={false}
        autoComplete="off"
        data-filter={isFilter ? "" : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
