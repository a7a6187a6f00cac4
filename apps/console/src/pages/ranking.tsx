import type { ReactNode } from "react";
import type { Counts } from "../api/responses.js";
import { fetchJson } from "../api/request.js";
import { useExplanation } from "../api/use-explanation.js";
import { useResource } from "../api/use-resource.js";
import { hrefOf } from "../route/route.js";
import { facetsOf } from "../decisions/facets.js";
import type { Period } from "../overview/series.js";
import { InlineCode } from "../components/inline-code.js";
import { Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";

const MOST = 6;
const WORDS: Readonly<Record<string, string>> = { agent_id: "agent" };

type Rank = { readonly value: string; readonly blocked: number; readonly would: number };

/** The values of a column with the most violations, as bars that lead to their receipts. */
export function Ranking({
  column,
  title,
  period,
}: {
  readonly column: string;
  readonly title: string;
  readonly period: Period;
}): ReactNode {
  const { data, problem, reload } = useResource(
    `${column} ${period.name}`,
    period.every,
    (_path, options) => readRanks(column, period, options),
  );
  const most = Math.max(1, ...(data ?? []).map(({ blocked, would }) => blocked + would));
  const id = `ranking-${column}`;
  return (
    <section className="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {data === undefined ? (
        problem === undefined ? (
          <Loading what="counts" />
        ) : (
          <Failure problem={problem} onRetry={reload} />
        )
      ) : data.length === 0 ? (
        <p className="faint">
          No blocked or would-block event of the last {period.title} has a {WORDS[column] ?? column}
          .
        </p>
      ) : (
        <ol className="rules">
          {data.slice(0, MOST).map((rank) => (
            <Bar key={rank.value} column={column} rank={rank} most={most} period={period} />
          ))}
        </ol>
      )}
    </section>
  );
}

async function readRanks(
  column: string,
  period: Period,
  options: { signal: AbortSignal },
): Promise<Rank[]> {
  const since = Math.floor((Date.now() - period.milliseconds) / 1000) * 1000;
  const counts = (filter: string): Promise<Counts> =>
    fetchJson(`/v1/receipts/counts?by=${column}&since=${since}&${filter}`, options);
  const [blocked, would] = await Promise.all([counts("allowed=false"), counts("would_block=true")]);
  const ranks = new Map<string, Rank>();
  for (const { value, count } of facetsOf(blocked, column)) {
    ranks.set(value, { value, blocked: count, would: 0 });
  }
  for (const { value, count } of facetsOf(would, column)) {
    ranks.set(value, { value, blocked: ranks.get(value)?.blocked ?? 0, would: count });
  }
  return [...ranks.values()].sort(
    (one, other) => other.blocked + other.would - one.blocked - one.would,
  );
}

function Bar({
  column,
  rank: { value, blocked, would },
  most,
  period,
}: {
  readonly column: string;
  readonly rank: Rank;
  readonly most: number;
  readonly period: Period;
}): ReactNode {
  const explanation = useExplanation(column === "rule" ? value : undefined);
  const share = (count: number): string => `${(100 * count) / most}%`;
  const within = String(period.milliseconds);
  const link = (verdict: string, count: number, label: string): ReactNode =>
    count === 0 ? null : (
      <a href={hrefOf(["receipts"], { [column]: value, verdict, within })}>
        {count.toLocaleString()} {label}
      </a>
    );
  return (
    <li>
      <div className="rule-head">
        <a href={hrefOf(["receipts"], { [column]: value, within })}>
          {column === "rule" ? (
            <code>
              <Text value={value} />
            </code>
          ) : (
            <Text value={value} />
          )}
        </a>
        <span className="number rank-counts">
          {link("blocked", blocked, "blocked")} {link("would_block", would, "would block")}
        </span>
      </div>
      <div className="bar" aria-hidden="true">
        <span className="blocked" style={{ width: share(blocked) }} />
        <span className="would_block" style={{ width: share(would) }} />
      </div>
      {column === "rule" ? (
        <p className="faint">
          <InlineCode text={explanation?.means ?? explanation?.title ?? "\u00a0"} />
        </p>
      ) : null}
    </li>
  );
}
