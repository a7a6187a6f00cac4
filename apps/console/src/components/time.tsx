import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { ageOf, clockOf, dateOf, gapOf, shortOf } from "./format-time.js";

/** A moment: the local time, with the exact UTC on hover. */
export function Time({
  at,
  isFull = false,
  isShort = false,
}: {
  readonly at: number;
  /** With the day. */
  readonly isFull?: boolean;
  /** Without milliseconds; with `isFull`, today has no day. */
  readonly isShort?: boolean;
}): ReactNode {
  const moment = new Date(at);
  const isSound = !Number.isNaN(moment.getTime());
  if (!isSound) return <span className="faint">–</span>;
  const exact = moment.toISOString();
  return (
    <time dateTime={exact} title={exact} className="number">
      {isShort ? shortOf(moment, isFull) : isFull ? dateOf(moment) : clockOf(moment)}
    </time>
  );
}

/** How long ago something was, kept up to date. */
export function Age({
  since,
  until,
}: {
  readonly since: number;
  readonly until?: number | undefined;
}): ReactNode {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (until !== undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [until]);
  const moment = new Date(since);
  return (
    <time dateTime={moment.toISOString()} title={moment.toISOString()} className="number">
      {until === undefined ? ageOf(now - since) : gapOf(until - since)}
    </time>
  );
}
