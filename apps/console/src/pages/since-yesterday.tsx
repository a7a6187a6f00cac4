import type { ReactNode } from "react";
import type { Counts } from "../api/responses.js";
import { fetchJson } from "../api/request.js";
import { useResource } from "../api/use-resource.js";
import { hrefOf } from "../route/route.js";
import { changesOf, ranked, sentenceOf } from "../overview/changes.js";
import type { Change } from "../overview/changes.js";
import { DAY } from "../overview/series.js";
import { Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";

const HOUR = DAY / 24;
const COLUMNS = [
  ["rule", "Rule"],
  ["tool", "Tool"],
  ["principal", "Principal"],
] as const;
const MOST = 8;

/** Violations of the last 24 hours beside those of the 24 hours before, in sentences. */
export function SinceYesterday(): ReactNode {
  const { data, problem, reload } = useResource<Change[]>("changes", 5 * 60_000, readChanges);
  return (
    <section className="card" aria-labelledby="changes">
      <h2 id="changes">What changed since yesterday</h2>
      {data === undefined ? (
        problem === undefined ? (
          <Loading what="both days" />
        ) : (
          <Failure problem={problem} onRetry={reload} />
        )
      ) : data.length === 0 ? (
        <p className="faint">
          No rule, tool or principal has clearly more or fewer violations than the day before.
        </p>
      ) : (
        <ul className="changes">
          {data.map((change) => (
            <li key={`${change.column} ${change.value}`}>
              <span className={`badge ${change.kind}`}>{change.kind}</span>
              <span>
                {COLUMNS.find(([name]) => name === change.column)?.[1]}{" "}
                <a
                  href={hrefOf(["receipts"], {
                    [change.column]: change.value,
                    within: String(2 * DAY),
                  })}
                >
                  <Text value={change.value} />
                </a>
                : {sentenceOf(change)}
              </span>
            </li>
          ))}
        </ul>
      )}
      <p className="faint small-print">
        Violations are events that a rule blocked, or would block in enforce mode: the last 24 hours
        and the 24 hours before.
      </p>
    </section>
  );
}

async function readChanges(_path: string, options: { signal: AbortSignal }): Promise<Change[]> {
  const end = Math.floor(Date.now() / HOUR) * HOUR + HOUR;
  const ask = (column: string, filter: string): Promise<Counts> =>
    fetchJson(
      `/v1/receipts/counts?by=${column}&bucket=${HOUR}&since=${end - 2 * DAY}&${filter}`,
      options,
    );
  const changes = await Promise.all(
    COLUMNS.map(async ([column]) => {
      const counts = await Promise.all([
        ask(column, "allowed=false"),
        ask(column, "would_block=true"),
      ]);
      return changesOf(counts, column, end);
    }),
  );
  return ranked(changes.flat(), MOST);
}
