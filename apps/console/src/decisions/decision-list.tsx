import { useCallback, useMemo, useState } from "react";
import type { ReactNode } from "react";
import { announce } from "../components/announce.js";
import type { Decision } from "./decision.js";
import { DecisionTable } from "./decision-table.js";
import { csvOf, download, jsonLinesOf } from "./export-rows.js";
import { groupRepeats, plainRows, rowsOf } from "./group-repeats.js";

/** A list of decisions: repeats as one row, and the list as a file. */
export function DecisionList({
  decisions,
  name,
  says,
  isGrouped,
  onGrouped,
  hasDay = false,
  onEnd,
}: {
  readonly decisions: readonly Decision[];
  /** The name of an exported file. */
  readonly name: string;
  readonly says: ReactNode;
  readonly isGrouped: boolean;
  readonly onGrouped: (isGrouped: boolean) => void;
  readonly hasDay?: boolean;
  readonly onEnd?: () => void;
}): ReactNode {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(
    () => (isGrouped ? rowsOf(groupRepeats(decisions), open) : plainRows(decisions)),
    [decisions, isGrouped, open],
  );
  const toggle = useCallback((key: string): void => {
    setOpen((last) => {
      const next = new Set(last);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  }, []);
  const save = (kind: "csv" | "jsonl"): void => {
    if (kind === "csv") download(`${name}.csv`, "text/csv;charset=utf-8", csvOf(decisions));
    else download(`${name}.jsonl`, "application/jsonl", jsonLinesOf(decisions));
    announce(`${decisions.length} decisions exported`);
  };
  return (
    <>
      <div className="list-line">
        <p className="faint small-print">{says}</p>
        <label className="check">
          <input
            type="checkbox"
            checked={isGrouped}
            onChange={(event) => onGrouped(event.target.checked)}
          />
          <span>Group repeats</span>
        </label>
        <span className="buttons">
          <button type="button" className="small" onClick={() => save("csv")}>
            Export CSV
          </button>
          <button type="button" className="small" onClick={() => save("jsonl")}>
            Export JSONL
          </button>
        </span>
      </div>
      <DecisionTable
        rows={rows}
        onToggle={toggle}
        hasDay={hasDay}
        {...(onEnd === undefined ? {} : { onEnd })}
      />
    </>
  );
}
