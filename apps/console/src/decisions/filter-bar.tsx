import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { hrefOf, rewrite } from "../route/route.js";
import { VERDICT_LABELS } from "../api/verdict.js";
import { visibleText } from "../components/visible-text.js";
import { Text } from "../components/text.js";
import { chipsOf, localOf, MAIN_FIELDS, millisecondsOf, MORE_FIELDS, PERIODS } from "./filter.js";
import type { Filter, FilterField } from "./filter.js";
import type { Facet, Facets } from "./facets.js";
import { removeView, saveView, useViews } from "./saved-views.js";

const TYPING_MS = 250;
const NARROW = "(max-width: 760px)";

/** The filter of a list: a search over every column, pick-lists, chips, and saved views. The address holds it. */
export function FilterBar({
  page,
  filter,
  facets,
  hasTime = false,
  children,
}: {
  readonly page: "live" | "receipts";
  readonly filter: Filter;
  readonly facets: Facets;
  readonly hasTime?: boolean;
  readonly children?: ReactNode;
}): ReactNode {
  const [isOpen, setOpen] = useState(() => !matchMedia(NARROW).matches);
  const [isWide, setWide] = useState(() => MORE_FIELDS.some(({ name }) => name in filter));
  const set = (change: Readonly<Record<string, string>>): void =>
    rewrite(hrefOf([page], { ...filter, ...change }));
  const chips = chipsOf(filter);
  return (
    <form
      className="filters"
      role="search"
      aria-label="Filter"
      onSubmit={(event) => event.preventDefault()}
    >
      <div className="filter-line">
        <Search text={filter["q"] ?? ""} onText={(q) => set({ q })} />
        <button
          type="button"
          className="narrow-only"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Filters{chips.length === 0 ? "" : ` (${chips.length})`}
        </button>
        <Views page={page} filter={filter} />
      </div>
      {isOpen ? (
        <div className="filter-grid">
          <label className="field">
            <span>Decision</span>
            <select
              value={filter["verdict"] ?? ""}
              onChange={(event) => set({ verdict: event.target.value })}
            >
              <option value="">all</option>
              {Object.entries(VERDICT_LABELS).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          {MAIN_FIELDS.map((field) => (
            <Pick
              key={field.name}
              field={field}
              value={filter[field.name] ?? ""}
              values={facets[field.name] ?? []}
              onPick={(value) => set({ [field.name]: value })}
            />
          ))}
          {hasTime ? (
            <label className="field">
              <span>Time</span>
              <select
                value={filter["within"] ?? ""}
                onChange={(event) => set({ within: event.target.value, since: "" })}
              >
                <option value="">all</option>
                {PERIODS.map(([value, title]) => (
                  <option key={value} value={value}>
                    {title}
                  </option>
                ))}
              </select>
            </label>
          ) : null}
          {children}
          <button type="button" aria-expanded={isWide} onClick={() => setWide(!isWide)}>
            {isWide ? "Fewer filters" : "More filters"}
          </button>
          {isWide ? <More filter={filter} hasTime={hasTime} onSet={set} /> : null}
        </div>
      ) : null}
      {chips.length === 0 ? null : (
        <ul className="chips" aria-label="Active filters">
          {chips.map(({ name, title, value }) => (
            <li key={name}>
              <button
                type="button"
                className="chip"
                aria-label={`Remove filter ${title} ${visibleText(value)}`}
                onClick={() => set({ [name]: "" })}
              >
                <span className="faint">{title}</span> <Text value={value} />{" "}
                <span aria-hidden="true">×</span>
              </button>
            </li>
          ))}
          <li>
            <button type="button" className="small" onClick={() => rewrite(hrefOf([page]))}>
              Clear all
            </button>
          </li>
        </ul>
      )}
    </form>
  );
}

/** The address follows when the operator pauses, so that the log is not asked for every letter. */
function Search({
  text,
  onText,
}: {
  readonly text: string;
  readonly onText: (text: string) => void;
}): ReactNode {
  const [draft, setDraft] = useState(text);
  useEffect(() => setDraft(text), [text]);
  useEffect(() => {
    if (draft === text) return undefined;
    const timer = setTimeout(() => onText(draft), TYPING_MS);
    return () => clearTimeout(timer);
  }, [draft, text, onText]);
  return (
    <label className="search">
      <span className="unseen">Find</span>
      <input
        type="search"
        value={draft}
        maxLength={200}
        placeholder="Find a principal, tool, rule, run, id …"
        spellCheck={false}
        autoComplete="off"
        data-filter=""
        onChange={(event) => setDraft(event.target.value)}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  );
}

/** A pick-list of the values of a column with their counts. */
function Pick({
  field,
  value,
  values,
  onPick,
}: {
  readonly field: FilterField;
  readonly value: string;
  readonly values: readonly Facet[];
  readonly onPick: (value: string) => void;
}): ReactNode {
  const isListed = value === "" || values.some((one) => one.value === value);
  return (
    <label className="field">
      <span>{field.title}</span>
      <select value={value} onChange={(event) => onPick(event.target.value)}>
        <option value="">all</option>
        {isListed ? null : <option value={value}>{shortened(value)}</option>}
        {values.map((one) => (
          <option key={one.value} value={one.value}>
            {shortened(one.value)} ({one.count.toLocaleString()})
          </option>
        ))}
      </select>
    </label>
  );
}

function shortened(value: string): string {
  const text = visibleText(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function More({
  filter,
  hasTime,
  onSet,
}: {
  readonly filter: Filter;
  readonly hasTime: boolean;
  readonly onSet: (change: Readonly<Record<string, string>>) => void;
}): ReactNode {
  return (
    <>
      {MORE_FIELDS.map(({ name, title, values }) => (
        <label key={name} className="field">
          <span>{title}</span>
          {values === undefined ? (
            <input
              type="text"
              defaultValue={filter[name] ?? ""}
              key={filter[name] ?? ""}
              maxLength={1024}
              spellCheck={false}
              autoComplete="off"
              onBlur={(event) => onSet({ [name]: event.target.value })}
              onKeyDown={(event) => {
                if (event.key === "Enter") onSet({ [name]: event.currentTarget.value });
              }}
            />
          ) : (
            <select
              value={filter[name] ?? ""}
              onChange={(event) => onSet({ [name]: event.target.value })}
            >
              <option value="">all</option>
              {values.map((value) => (
                <option key={value} value={value}>
                  {value}
                </option>
              ))}
            </select>
          )}
        </label>
      ))}
      {hasTime
        ? (["since", "until"] as const).map((name) => (
            <label key={name} className="field">
              <span>{name === "since" ? "From" : "Until"}</span>
              <input
                type="datetime-local"
                value={localOf(filter[name]) ?? ""}
                onChange={(event) =>
                  onSet({ [name]: millisecondsOf(event.target.value), within: "" })
                }
              />
            </label>
          ))
        : null}
    </>
  );
}

/** Saved views of this browser; their names are text. */
function Views({
  page,
  filter,
}: {
  readonly page: "live" | "receipts";
  readonly filter: Filter;
}): ReactNode {
  const views = useViews();
  const [name, setName] = useState<string>();
  const here = hrefOf([page], filter);
  const current = views.find(({ href }) => href === here);
  const save = (): void => {
    if (name !== undefined && name.trim() !== "") saveView(name, here);
    setName(undefined);
  };
  return (
    <span className="views">
      {name === undefined ? (
        <>
          {views.length === 0 ? null : (
            <label>
              <span className="unseen">Saved views</span>
              <select
                value={current?.name ?? ""}
                onChange={(event) => {
                  const view = views.find((one) => one.name === event.target.value);
                  if (view !== undefined) location.hash = view.href;
                }}
              >
                <option value="">Saved views</option>
                {views.map((view) => (
                  <option key={view.name} value={view.name}>
                    {visibleText(view.name)}
                  </option>
                ))}
              </select>
            </label>
          )}
          {current === undefined ? (
            <button
              type="button"
              disabled={chipsOf(filter).length === 0}
              onClick={() => setName("")}
            >
              Save view
            </button>
          ) : (
            <button type="button" onClick={() => removeView(current.name)}>
              Delete view
            </button>
          )}
        </>
      ) : (
        <>
          <label>
            <span className="unseen">Name of the view</span>
            <input
              type="text"
              value={name}
              maxLength={80}
              placeholder="Name of the view"
              ref={(element) => element?.focus()}
              onChange={(event) => setName(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter") save();
                if (event.key === "Escape") setName(undefined);
              }}
            />
          </label>
          <button type="button" onClick={save}>
            Save
          </button>
        </>
      )}
    </span>
  );
}
