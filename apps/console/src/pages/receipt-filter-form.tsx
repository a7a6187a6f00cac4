import { useEffect, useState } from "react";
import type { FormEvent, ReactNode } from "react";
import { go, hrefOf } from "../route/route.js";
import { Field } from "../components/field.js";
import {
  CHOICES,
  localOf,
  millisecondsOf,
  TEXTS,
  TIMES,
  WIDE,
  withoutVerdict,
  withVerdict,
} from "./receipt-filter.js";
import type { Filter } from "./receipt-filter.js";

/** The filter as a form; what it says is in the address. */
export function FilterForm({ filter }: { readonly filter: Filter }): ReactNode {
  const { cursor: _, ...kept } = filter;
  const [draft, setDraft] = useState<Filter>(withVerdict(kept));
  const [isWide, setWide] = useState(() =>
    [...TEXTS.slice(5), ...TIMES, ...CHOICES.filter(([name]) => WIDE.has(name))].some(
      ([name]) => draft[name] !== undefined,
    ),
  );
  const set = (name: string, value: string): void =>
    setDraft((last) => ({ ...last, [name]: value }));
  const written = JSON.stringify(kept);
  // The way back leads to another filter, and the form follows; it is the same form, so that the focus stays.
  useEffect(() => setDraft(withVerdict(JSON.parse(written) as Filter)), [written]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    go(hrefOf(["receipts"], withoutVerdict(draft)));
  };
  const choose = (name: string, value: string): void => {
    const next = { ...draft, [name]: value };
    setDraft(next);
    go(hrefOf(["receipts"], withoutVerdict(next)));
  };
  const isEmpty = Object.values(draft).every((value) => value === "");
  return (
    <form className="filters" role="search" aria-label="Filter" onSubmit={submit}>
      {TEXTS.slice(0, isWide ? TEXTS.length : 5).map(([name, title], at) => (
        <Field
          key={name}
          title={title}
          isFilter={at === 0}
          value={draft[name] ?? ""}
          onChange={(value) => set(name, value)}
        />
      ))}
      {CHOICES.filter(([name]) => isWide || !WIDE.has(name)).map(([name, title, values]) => (
        <label key={name} className="field">
          <span>{title}</span>
          <select value={draft[name] ?? ""} onChange={(event) => choose(name, event.target.value)}>
            {values.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      ))}
      {isWide
        ? TIMES.map(([name, title]) => (
            <Field
              key={name}
              title={title}
              type="datetime-local"
              value={localOf(draft[name])}
              onChange={(value) => set(name, millisecondsOf(value))}
            />
          ))
        : null}
      <button type="submit" className="primary">
        Filter
      </button>
      <button type="button" aria-expanded={isWide} onClick={() => setWide(!isWide)}>
        {isWide ? "Fewer" : "More…"}
      </button>
      <button type="button" disabled={isEmpty} onClick={() => go(hrefOf(["receipts"]))}>
        Clear
      </button>
    </form>
  );
}
