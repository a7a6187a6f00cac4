import { useMemo } from "react";
import type { ReactNode } from "react";
import type { Counts } from "../api/responses.js";
import { useResource } from "../api/use-resource.js";
import { useExplanation } from "../api/use-explanation.js";
import { hrefOf, rewrite } from "../route/route.js";
import { Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";
import { InlineCode } from "../components/inline-code.js";

const HOUR = 3_600_000;
const PERIODS = [
  ["1", "the last hour"],
  ["24", "the last day"],
  ["168", "the last week"],
  ["720", "the last 30 days"],
] as const;

/** Events that enforce mode would have blocked, by rule. */
export function WouldBlock({
  query,
  mode,
}: {
  readonly query: URLSearchParams;
  readonly mode: "observe" | "enforce";
}): ReactNode {
  const hours = PERIODS.find(([value]) => value === query.get("hours"))?.[0] ?? "24";
  // Rounded to the minute, so that polling repeats the same request.
  const since = useMemo(
    () => Math.floor(Date.now() / 60_000) * 60_000 - Number(hours) * HOUR,
    [hours],
  );
  const { data, problem, reload } = useResource<Counts>(
    `/v1/receipts/counts?by=rule&would_block=true&since=${since}`,
    10_000,
  );
  const rows = (data?.counts ?? []).toSorted((one, other) => other.count - one.count);
  const most = Math.max(1, ...rows.map((row) => row.count));
  return (
    <section className="card" aria-labelledby="would-block">
      <div className="head">
        <h2 id="would-block">Events that enforce mode would block</h2>
        <label className="inline">
          <span>In</span>
          <select
            value={hours}
            onChange={(event) => rewrite(hrefOf(["policy"], { hours: event.target.value }))}
          >
            {PERIODS.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      {data === undefined ? (
        problem === undefined ? (
          <Loading what="the counts by rule" />
        ) : (
          <Failure problem={problem} onRetry={reload} />
        )
      ) : rows.length === 0 ? (
        <p className="faint">
          No would-block events in this period
          {mode === "enforce"
            ? ": this policy blocks each event that violates a rule."
            : ": enforce mode would change nothing."}
        </p>
      ) : (
        <ol className="rules">
          {rows.map(({ count, values }) => (
            <WouldBlockRule
              key={String(values["rule"])}
              rule={String(values["rule"])}
              count={count}
              most={most}
              since={since}
            />
          ))}
        </ol>
      )}
    </section>
  );
}

function WouldBlockRule({
  rule,
  count,
  most,
  since,
}: {
  readonly rule: string;
  readonly count: number;
  readonly most: number;
  readonly since: number;
}): ReactNode {
  const explanation = useExplanation(rule);
  return (
    <li>
      <div className="rule-head">
        <a href={hrefOf(["receipts"], { rule, would_block: "true", since: String(since) })}>
          <code>
            <Text value={rule} />
          </code>
        </a>
        <span className="number">{count.toLocaleString()} forwarded so far</span>
      </div>
      <div className="bar" aria-hidden="true">
        <span className="would_block" style={{ width: `${(100 * count) / most}%` }} />
      </div>
      <p className="faint">
        <InlineCode
          text={
            explanation === undefined
              ? "\u00a0"
              : `${explanation.means ?? ""}. Fix: ${explanation.remedy}.`
          }
        />
      </p>
    </li>
  );
}
