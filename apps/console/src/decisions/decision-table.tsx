import { useVirtualizer } from "@tanstack/react-virtual";
import type { Virtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef } from "react";
import type { KeyboardEvent, ReactNode, RefObject } from "react";
import { useExplanation } from "../api/use-explanation.js";
import { hrefOf } from "../route/route.js";
import { VerdictBadge } from "../components/badge.js";
import { InlineCode } from "../components/inline-code.js";
import { Text } from "../components/text.js";
import { Time } from "../components/time.js";
import { visibleText } from "../components/visible-text.js";
import { operatorOf, placeOf } from "./decision.js";
import type { Decision } from "./decision.js";
import type { Row } from "./group-repeats.js";

const COLUMNS = ["Time", "Decision", "Who", "What", "Why", "Agent and run", "Repeats"];

/** Thousands of decisions of which only those in sight are drawn; arrows move, Enter opens the receipt. */
export function DecisionTable({
  rows,
  onToggle,
  hasDay = false,
  onEnd,
}: {
  readonly rows: readonly Row[];
  readonly onToggle: (key: string) => void;
  /** The log covers more than a day, the live feed does not. */
  readonly hasDay?: boolean;
  /** The operator scrolled to the last row. */
  readonly onEnd?: () => void;
}): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => 58,
    overscan: 8,
    getItemKey: (at) => rows[at]?.key ?? at,
  });
  useStillRows(place, rows, virtual);
  const drawn = virtual.getVirtualItems();
  const last = drawn.at(-1)?.index ?? -1;
  useLayoutEffect(() => {
    if (last === rows.length - 1 && (place.current?.scrollTop ?? 0) > 0) onEnd?.();
  }, [last, rows.length, onEnd]);
  return (
    <div
      className="feed"
      role="table"
      aria-label="Decisions, the newest first"
      aria-rowcount={rows.length + 1}
    >
      <div className="feed-row feed-head" role="row" aria-rowindex={1}>
        {COLUMNS.map((title) => (
          <span key={title} role="columnheader">
            {title === "Repeats" ? <span className="unseen">{title}</span> : title}
          </span>
        ))}
      </div>
      <div
        className="feed-scroll"
        ref={place}
        role="rowgroup"
        onKeyDown={(event) => step(event, virtual)}
      >
        <div className="feed-all" role="presentation" style={{ height: virtual.getTotalSize() }}>
          {drawn.map(({ index, key, start }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={`feed-row ${row.decision.verdict}${row.isPart ? " part" : ""}`}
                role="row"
                aria-rowindex={index + 2}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Cells row={row} at={index} hasDay={hasDay} onToggle={onToggle} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Cells({
  row,
  at,
  hasDay,
  onToggle,
}: {
  readonly row: Row;
  readonly at: number;
  readonly hasDay: boolean;
  readonly onToggle: (key: string) => void;
}): ReactNode {
  const { decision, count, isOpen } = row;
  const place = placeOf(decision);
  const operator = operatorOf(decision);
  return (
    <>
      <span role="cell" className="when">
        <a className="whole number" href={hrefOf(["receipts", decision.seq])} data-at={at}>
          {decision.seq}
        </a>
        <Time at={decision.received_at} isFull={hasDay} isShort />
      </span>
      <span role="cell" className="outcome">
        <VerdictBadge verdict={decision.verdict} />
        <span className="faint">{decision.classification}</span>
      </span>
      <span role="cell" className="who">
        {decision.principal !== "" ? (
          <Text value={decision.principal} />
        ) : operator === undefined ? (
          <span className="faint">anonymous</span>
        ) : (
          <Text value={operator} />
        )}
        <Text
          value={
            operator === undefined ? decision.client_address || decision.session_id : "operator"
          }
        />
      </span>
      <span role="cell" className="what">
        <span className="clamp">
          <span
            aria-label={decision.direction === "inbound" ? "to the agent" : "to the client"}
            role="img"
            className="way"
          >
            {decision.direction === "inbound" ? "↑" : "↓"}
          </span>
          {"\u00a0"}
          <Text value={decision.tool === "" ? nameOf(row) : decision.tool} />
        </span>
        {decision.tool === "" ? null : <Text value={nameOf(row)} />}
        {place === "" ? null : <Text value={place} />}
      </span>
      <Why decision={decision} />
      <span role="cell" className="where">
        <Text value={decision.agent_id} />
        {decision.run_id === "" ? null : (
          <a className="above" href={hrefOf(["runs", decision.session_id, decision.run_id])}>
            <Text value={decision.run_id} />
          </a>
        )}
      </span>
      <span role="cell" className="repeats">
        {count === 1 ? null : (
          <button
            type="button"
            className="small above number"
            aria-expanded={isOpen}
            aria-label={`${count} repeats, ${isOpen ? "close" : "open"}`}
            onClick={() => onToggle(row.key)}
          >
            ×{count.toLocaleString()} <span aria-hidden="true">{isOpen ? "▴" : "▾"}</span>
          </button>
        )}
      </span>
    </>
  );
}

/** The kind of event, as filters and receipts name it; the feed also knows the AG-UI type of one event. */
function nameOf({ decision: { type, event_type: kind }, count }: Row): string {
  return count > 1 || type === kind || type === "CUSTOM" ? kind : `${kind} · ${type}`;
}

/** The rule with its meaning; a refusal without a rule has a reason. */
function Why({ decision }: { readonly decision: Decision }): ReactNode {
  const { rule, further_rules: further, denial_reason: reason } = decision;
  const explanation = useExplanation(rule === "" ? undefined : rule);
  if (rule === "") {
    return (
      <span role="cell" className="why">
        <Text value={reason} />
      </span>
    );
  }
  const others = visibleText(further.join(", "));
  const means = explanation?.means ?? explanation?.title ?? "";
  return (
    <span role="cell" className="why">
      <code title={visibleText(reason)}>
        <Text value={rule} isWrapped />
        {further.length === 0 ? null : (
          <span className="faint" title={others}>
            {" "}
            <span aria-hidden="true">+{further.length}</span>
            <span className="unseen">also {others}</span>
          </span>
        )}
      </code>
      <span className="faint clamp" title={means}>
        {means === "" ? <Text value={reason} /> : <InlineCode text={means} />}
      </span>
    </span>
  );
}

/**
 * New rows above do not move the view of an operator who scrolled down or has a row in focus. Rows are measured after
 * they are drawn, so the place is restored after each drawing, unless the operator has scrolled since.
 */
function useStillRows(
  place: RefObject<HTMLDivElement | null>,
  rows: readonly Row[],
  virtual: Virtualizer<HTMLDivElement, Element>,
): void {
  const anchor = useRef<{ readonly key: string; readonly below: number; readonly at: number }>(
    undefined,
  );
  useLayoutEffect(() => {
    virtual.shouldAdjustScrollPositionOnItemSizeChange = () => false;
  }, [virtual]);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const { measurementsCache: all } = virtual;
    const before = anchor.current;
    const isRead = element.scrollTop > 0 || element.contains(document.activeElement);
    if (isRead && before?.at === element.scrollTop) {
      const start = all[rows.findIndex(({ key }) => key === before.key)]?.start;
      if (start !== undefined) element.scrollTop = start + before.below;
    }
    const at = element.scrollTop;
    const top = all.find(({ end }) => end > at);
    const key = top === undefined ? undefined : rows[top.index]?.key;
    if (top === undefined || key === undefined) anchor.current = undefined;
    else anchor.current = { key, below: at - top.start, at };
  });
}

function step(event: KeyboardEvent, virtual: Virtualizer<HTMLDivElement, Element>): void {
  const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const from = event.target instanceof HTMLElement ? event.target.dataset["at"] : undefined;
  if (by === 0 || from === undefined) return;
  const next = virtual.scrollElement?.querySelector<HTMLElement>(
    `[data-at="${Number(from) + by}"]`,
  );
  if (next === null || next === undefined) return;
  event.preventDefault();
  next.focus();
}
