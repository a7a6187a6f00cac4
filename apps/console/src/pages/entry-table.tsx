import type { ReactNode } from "react";
import type { Entry } from "../api/responses.js";
import { verdictOfEntry } from "../api/verdict.js";
import { hrefOf } from "../route/route.js";
import { ClassBadge, VerdictBadge } from "../components/badge.js";
import { RuleNames } from "../components/rule-names.js";
import { Text } from "../components/text.js";
import { Scroll } from "../components/scroll.js";
import { Time } from "../components/time.js";
import { eventName, targetName } from "./entry-fields.js";

/** Entries of the log as a table. */
export function EntryTable({
  entries,
  isOfOneRun = false,
}: {
  readonly entries: readonly Entry[];
  readonly isOfOneRun?: boolean;
}): ReactNode {
  return (
    <Scroll title="Entries, scroll sideways">
      <table>
        <thead>
          <tr>
            <th scope="col">Entry</th>
            <th scope="col">Time</th>
            <th scope="col">Decision</th>
            <th scope="col">Class</th>
            <th scope="col">What</th>
            <th scope="col">Place</th>
            {isOfOneRun ? null : (
              <>
                <th scope="col">Agent</th>
                <th scope="col">Session</th>
              </>
            )}
            <th scope="col">Rule</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <EntryRow key={entry.seq} entry={entry} isOfOneRun={isOfOneRun} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function EntryRow({
  entry,
  isOfOneRun,
}: {
  readonly entry: Entry;
  readonly isOfOneRun: boolean;
}): ReactNode {
  const { receipt } = entry;
  return (
    <tr>
      <td>
        <a href={hrefOf(["receipts", entry.seq])}>{entry.seq}</a>
      </td>
      <td>
        <Time at={entry.received_at} isFull={!isOfOneRun} />
      </td>
      <td>
        <VerdictBadge verdict={verdictOfEntry(entry)} />
      </td>
      <td>
        <ClassBadge name={receipt.classification} />
      </td>
      <td className="name">
        <span
          role="img"
          aria-label={entry.direction === "inbound" ? "to the agent" : "to the client"}
          className="way"
        >
          {entry.direction === "inbound" ? "↑" : "↓"}
        </span>{" "}
        <Text value={entry.tool ?? eventName(entry)} />
      </td>
      <td className="name">
        <Text value={entry.path ?? targetName(entry)} />
      </td>
      {isOfOneRun ? null : (
        <>
          <td className="name">
            <Text value={receipt.agent_id} />
          </td>
          <td className="name">
            <Text value={receipt.session_id ?? ""} />
          </td>
        </>
      )}
      <td className="name">
        <RuleNames rule={entry.rule ?? ""} further={entry.further_rules} />
      </td>
    </tr>
  );
}
