import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { KeyboardEvent, ReactNode, RefObject } from "react";
import type { FeedItem } from "../api/responses.js";
import { verdictOf } from "../api/verdict.js";
import { hrefOf } from "../route/route.js";
import { ClassBadge, VerdictBadge } from "../components/badge.js";
import { RuleNames } from "../components/rule-names.js";
import { Text } from "../components/text.js";
import { Time } from "../components/time.js";

const ROW = 40;
const NARROW_ROW = 84;
const NARROW = "(max-width: 760px)";

/** Thousands of decisions of which only those in sight are drawn; arrows move, Enter opens the receipt. */
export function FeedTable({ items }: { readonly items: readonly FeedItem[] }): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const height = useRowHeight();
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => place.current,
    estimateSize: () => height,
    overscan: 8,
    getItemKey: (at) => items[at]?.seq ?? at,
  });
  useEffect(() => rows.measure(), [height, rows]);
  useStillRows(place, items, height);
  return (
    <div
      className="feed"
      role="table"
      aria-label="Decisions, the newest first"
      aria-rowcount={items.length + 1}
    >
      <div className="feed-row feed-head" role="row" aria-rowindex={1}>
        {["Entry", "Time", "Decision", "Class", "Event", "Agent", "Session", "Rule"].map(
          (title) => (
            <span key={title} role="columnheader">
              {title}
            </span>
          ),
        )}
      </div>
      <div
        className="feed-scroll"
        ref={place}
        role="rowgroup"
        onKeyDown={(event) => step(event, place.current)}
      >
        <div className="feed-all" role="presentation" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const item = items[row.index];
            return item === undefined ? null : (
              <FeedRow key={row.key} item={item} at={row.index} top={row.start} height={row.size} />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function FeedRow({
  item,
  at,
  top,
  height,
}: {
  readonly item: FeedItem;
  readonly at: number;
  readonly top: number;
  readonly height: number;
}): ReactNode {
  const verdict = verdictOf(item);
  return (
    <div
      className={`feed-row ${verdict}`}
      role="row"
      aria-rowindex={at + 2}
      style={{ transform: `translateY(${top}px)`, height }}
    >
      <span role="cell">
        <a className="whole" href={hrefOf(["receipts", item.seq])} data-at={at}>
          {item.seq}
        </a>
      </span>
      <span role="cell">
        <Time at={item.received_at} />
      </span>
      <span role="cell">
        <VerdictBadge verdict={verdict} />
      </span>
      <span role="cell">
        <ClassBadge name={item.classification} />
      </span>
      <span role="cell" className="event">
        <span
          aria-label={item.direction === "inbound" ? "to the agent" : "to the client"}
          role="img"
          className="way"
        >
          {item.direction === "inbound" ? "↑" : "↓"}
        </span>{" "}
        <Text value={item.type} />
      </span>
      <span role="cell">
        <Text value={item.agent_id} />
      </span>
      <span role="cell">
        <Text value={item.session_id} />
      </span>
      <span role="cell" className="rule">
        {item.rule === undefined ? (
          <Text value={item.denial_reason ?? ""} />
        ) : (
          <RuleNames rule={item.rule} further={item.further_rules} />
        )}
      </span>
    </div>
  );
}

/** New rows above do not move the view of an operator who scrolled down or has a row in focus. */
function useStillRows(
  place: RefObject<HTMLDivElement | null>,
  items: readonly FeedItem[],
  height: number,
): void {
  const first = useRef<number>(undefined);
  useLayoutEffect(() => {
    const before = first.current;
    first.current = items[0]?.seq;
    const element = place.current;
    if (element === null || before === undefined || before === first.current) return;
    const isRead = element.scrollTop > 0 || element.contains(document.activeElement);
    const above = isRead ? items.findIndex(({ seq }) => seq === before) : 0;
    if (above > 0) element.scrollTop += above * height;
  }, [place, items, height]);
}

function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const look = (): void => setNarrow(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return isNarrow ? NARROW_ROW : ROW;
}

function step(event: KeyboardEvent, place: HTMLElement | null): void {
  const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const from = event.target instanceof HTMLElement ? event.target.dataset["at"] : undefined;
  if (by === 0 || from === undefined) return;
  const next = place?.querySelector<HTMLElement>(`[data-at="${Number(from) + by}"]`);
  if (next === null || next === undefined) return;
  event.preventDefault();
  next.focus();
}
