import { useEffect, useState } from "react";
import type { FormEvent, ReactNode } from "react";
import type { Entries } from "../api/answers.js";
import { useAnswer } from "../api/use-answer.js";
import { go, hrefOf } from "../route/route.js";
import { Field } from "../shown/field.js";
import { Empty, Failure, Loading } from "../shown/states.js";
import { EntryTable } from "./entry-table.js";

/** Filters of the API that are typed in, in the order of the form. */
const TEXTS = [
  ["id", "Receipt id"],
  ["agent_id", "Agent"],
  ["session_id", "Session"],
  ["run_id", "Run"],
  ["thread_id", "Thread"],
  ["rule", "Rule"],
  ["event_type", "Event"],
  ["target_type", "Target"],
  ["capability_id", "Capability"],
] as const;

const CHOICES: readonly (readonly [
  name: string,
  title: string,
  values: readonly (readonly [string, string])[],
])[] = [
  [
    "verdict",
    "Verdict",
    [
      ["", "all"],
      ["allowed", "let through"],
      ["noted", "noted"],
      ["blocked", "blocked"],
    ],
  ],
  [
    "classification",
    "Class",
    ["", "display", "mutate", "navigate", "create", "destroy", "submit", "alert"].map(
      (name) => [name, name === "" ? "all" : name] as const,
    ),
  ],
  [
    "direction",
    "Direction",
    [
      ["", "both"],
      ["outbound", "to the person"],
      ["inbound", "to the agent"],
    ],
  ],
  [
    "order",
    "Order",
    [
      ["", "newest first"],
      ["oldest", "oldest first"],
    ],
  ],
];

const TIMES = [
  ["since", "From"],
  ["until", "Until"],
] as const;

type Filter = Readonly<Record<string, string>>;

/** The log, by what one looks for. */
export function ReceiptsPage({ query }: { readonly query: URLSearchParams }): ReactNode {
  const filter: Filter = Object.fromEntries(query);
  const { answer, problem, reload } = useAnswer<Entries>(`/v1/receipts?${apiQuery(filter)}`);
  return (
    <>
      <div className="head">
        <h1 tabIndex={-1}>Receipts</h1>
        <button type="button" onClick={reload}>
          Ask again
        </button>
      </div>
      <FilterForm key={query.toString()} filter={filter} />
      {answer === undefined ? (
        problem === undefined ? (
          <Loading what="receipts" />
        ) : (
          <Failure problem={problem} onRetry={reload} />
        )
      ) : answer.entries.length === 0 ? (
        <Empty title="No receipts that match">
          Loosen the filter; values must be exact. Everything the gateway decided is in the log.
        </Empty>
      ) : (
        <section className="card" aria-label="Receipts">
          <EntryTable entries={answer.entries} />
        </section>
      )}
      <Pages filter={filter} next={answer?.cursor} />
    </>
  );
}

function Pages({
  filter,
  next,
}: {
  readonly filter: Filter;
  readonly next: string | undefined;
}): ReactNode {
  const { cursor, ...first } = filter;
  if (cursor === undefined && next === undefined) return null;
  return (
    <nav className="buttons" aria-label="Pages of receipts">
      {cursor === undefined ? null : <a href={hrefOf(["receipts"], first)}>First page</a>}
      {next === undefined ? null : (
        <a href={hrefOf(["receipts"], { ...filter, cursor: next })}>Next page</a>
      )}
    </nav>
  );
}

function FilterForm({ filter }: { readonly filter: Filter }): ReactNode {
  const { cursor: _, ...kept } = filter;
  const [draft, setDraft] = useState<Filter>(withVerdict(kept));
  const [isWide, setWide] = useState(() =>
    TEXTS.slice(5).some(([name]) => draft[name] !== undefined),
  );
  const set = (name: string, value: string): void =>
    setDraft((last) => ({ ...last, [name]: value }));
  useEffect(() => setDraft(withVerdict(kept)), [JSON.stringify(kept)]);
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
      {CHOICES.map(([name, title, values]) => (
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

/** The API has two flags for what people call one verdict. */
function withVerdict({ allowed, noted, ...rest }: Filter): Filter {
  if (allowed === "false") return { ...rest, verdict: "blocked" };
  if (noted === "true") return { ...rest, verdict: "noted" };
  return allowed === "true" ? { ...rest, verdict: "allowed" } : rest;
}

function withoutVerdict({ verdict, ...rest }: Filter): Filter {
  if (verdict === "blocked") return { ...rest, allowed: "false" };
  if (verdict === "noted") return { ...rest, noted: "true" };
  return verdict === "allowed" ? { ...rest, allowed: "true" } : rest;
}

function apiQuery(filter: Filter): string {
  return new URLSearchParams({ ...filter, limit: "100" }).toString();
}

function localOf(milliseconds: string | undefined): string {
  if (milliseconds === undefined || !/^\d{1,15}$/u.test(milliseconds)) return "";
  const moment = new Date(Number(milliseconds));
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 16);
}

function millisecondsOf(local: string): string {
  const time = new Date(local).getTime();
  return Number.isNaN(time) ? "" : String(time);
}
