import { useMemo } from "react";
import type { ReactNode } from "react";
import type { Counts } from "../api/answers.js";
import { useAnswer } from "../api/use-answer.js";
import { useMeaning } from "../api/use-meaning.js";
import { hrefOf, rewrite } from "../route/route.js";
import { Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";
import { Words } from "../components/words.js";

const HOUR = 3_600_000;
const PERIODS = [
  ["1", "the last hour"],
  ["24", "the last day"],
  ["168", "the last week"],
  ["720", "the last 30 days"],
] as const;

/** What was only noted, by rule: what would be blocked if the same came again and everything enforced. */
export function WouldBlock({
  query,
  mode,
}: {
  readonly query: URLSearchParams;
  readonly mode: "observe" | "enforce";
}): ReactNode {
  const hours = PERIODS.find(([value]) => value === query.get("hours"))?.[0] ?? "24";
  // To the minute, so that the question stays the same while it is looked at.
  const since = useMemo(
    () => Math.floor(Date.now() / 60_000) * 60_000 - Number(hours) * HOUR,
    [hours],
  );
  const { answer, problem, reload } = useAnswer<Counts>(
    `/v1/receipts/counts?by=rule&noted=true&since=${since}`,
    10_000,
  );
  const rows = (answer?.counts ?? []).toSorted((one, other) => other.count - one.count);
  const most = Math.max(1, ...rows.map((row) => row.count));
  return (
    <section className="card" aria-labelledby="would-block">
      <div className="head">
        <h2 id="would-block">What enforcing would block</h2>
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
      {answer === undefined ? (
        problem === undefined ? (
          <Loading what="what was noted" />
        ) : (
          <Failure problem={problem} onRetry={reload} />
        )
      ) : rows.length === 0 ? (
        <p className="faint">
          Nothing was only noted in this time
          {mode === "enforce"
            ? ": this policy blocks what its rules speak against."
            : ": enforcing would change nothing."}
        </p>
      ) : (
        <ol className="rules">
          {rows.map(({ count, values }) => (
            <NotedRule
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

function NotedRule({
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
  const meaning = useMeaning(rule);
  return (
    <li>
      <div className="rule-head">
        <a href={hrefOf(["receipts"], { rule, noted: "true", since: String(since) })}>
          <code>
            <Text value={rule} />
          </code>
        </a>
        <span className="number">{count.toLocaleString()} let through so far</span>
      </div>
      <div className="bar" aria-hidden="true">
        <span className="noted" style={{ width: `${(100 * count) / most}%` }} />
      </div>
      <p className="faint">
        <Words
          text={
            meaning === undefined
              ? "\u00a0"
              : `${meaning.means ?? ""}. What helps: ${meaning.remedy}.`
          }
        />
      </p>
    </li>
  );
}
