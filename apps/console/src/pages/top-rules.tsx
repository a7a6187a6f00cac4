import type { ReactNode } from "react";
import { useExplanation } from "../api/use-explanation.js";
import { useFeed, useFeedStore } from "../feed/feed-context.js";
import type { RuleCount } from "../feed/feed-store.js";
import { hrefOf } from "../route/route.js";
import { Text } from "../components/text.js";
import { InlineCode } from "../components/inline-code.js";

/** The rules violated most often since the page was opened, with their explanation. */
export function TopRules(): ReactNode {
  // Subscribes to changes of the feed.
  useFeed();
  const rules = useFeedStore().topRules(6);
  const most = Math.max(1, ...rules.map(({ blocked, noted }) => blocked + noted));
  return (
    <section className="card" aria-labelledby="top-rules">
      <h2 id="top-rules">Top rules</h2>
      {rules.length === 0 ? (
        <p className="faint">No violations since this page was opened.</p>
      ) : (
        <ol className="rules">
          {rules.map((count) => (
            <TopRule key={count.rule} count={count} most={most} />
          ))}
        </ol>
      )}
      <p className="faint small-print">
        Counts decisions since this page was opened, and the 200 before.
      </p>
    </section>
  );
}

function TopRule({ count, most }: { readonly count: RuleCount; readonly most: number }): ReactNode {
  const { rule, blocked, noted } = count;
  const explanation = useExplanation(rule);
  const share = (value: number): string => `${(100 * value) / most}%`;
  return (
    <li>
      <div className="rule-head">
        <a href={hrefOf(["receipts"], { rule })}>
          <code>
            <Text value={rule} />
          </code>
        </a>
        <span className="number">
          {blocked > 0 ? `${blocked.toLocaleString()} blocked` : ""}
          {blocked > 0 && noted > 0 ? ", " : ""}
          {noted > 0 ? `${noted.toLocaleString()} would block` : ""}
        </span>
      </div>
      <div className="bar" aria-hidden="true">
        <span className="blocked" style={{ width: share(blocked) }} />
        <span className="noted" style={{ width: share(noted) }} />
      </div>
      <p className="faint">
        <InlineCode text={explanation?.means ?? explanation?.title ?? "\u00a0"} />
      </p>
    </li>
  );
}
