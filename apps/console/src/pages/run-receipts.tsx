import { useState } from "react";
import type { ReactNode } from "react";
import { ControlProblem } from "../api/request.js";
import { useResource } from "../api/use-resource.js";
import { announce } from "../components/announce.js";
import { useMissingRole } from "../components/needs-role.js";
import { Conversation } from "../conversation/conversation.js";
import { readPayloads } from "../conversation/read-payloads.js";
import type { Kept } from "../conversation/read-payloads.js";
import { Empty, Failure, Loading } from "../components/states.js";
import { Timeline } from "../timeline/timeline.js";
import { EntryTable } from "./entry-table.js";
import { RunDownloads } from "./run-downloads.js";
import { neighbours, rangeOf, readWindow, WINDOW } from "./run-window.js";
import type { Place, RunWindow } from "./run-window.js";

const ROWS = 200;
const BEGIN: Place = { from: "oldest", cursors: [] };
const FORBIDDEN: Kept = {
  state: "none",
  problem: new ControlProblem(403, "ERR_CONTROL_ROLE", "Evidence needs the role operator"),
};
const END: Place = { from: "newest", cursors: [] };

/** The receipts of a run, a window of them at a time: as a picture, and as a table. */
export function RunReceipts({
  session,
  run,
  isOpen,
}: {
  readonly session: string;
  readonly run: string;
  readonly isOpen: boolean;
}): ReactNode {
  const [place, setPlace] = useState<Place>(BEGIN);
  const mayRead = useMissingRole("operator") === undefined;
  const filter = new URLSearchParams({ session_id: session, run_id: run }).toString();
  // Only the end of the log grows, so other windows are not polled.
  const isAtEnd = place.from === "newest" ? place.cursors.length === 0 : true;
  const { data, problem, reload } = useResource<RunWindow>(
    `${filter} ${place.from} ${place.cursors.at(-1) ?? ""}`,
    isOpen && isAtEnd ? 2000 : undefined,
    (_path, { signal }) => readWindow(filter, place, signal),
  );
  // Each read of evidence is a receipt, so an open run is not polled for it.
  const kept = useResource<Kept>(`${session}\n${run}\n${mayRead}`, undefined, (_path, options) =>
    mayRead ? readPayloads(session, run, options) : Promise.resolve(FORBIDDEN),
  );
  if (data === undefined) {
    return problem === undefined ? (
      <Loading what="its receipts" />
    ) : (
      <Failure problem={problem} onRetry={reload} />
    );
  }
  if (data.entries.length === 0) {
    return (
      <Empty title="No receipts for this run">The log has no entry of this session and run.</Empty>
    );
  }
  return (
    <>
      <section className="card" aria-labelledby="timeline">
        <div className="head">
          <h2 id="timeline">Timeline</h2>
          <RunDownloads session={session} run={run} page={data} kept={kept.data} />
        </div>
        <Timeline entries={data.entries} />
        {data.total > WINDOW ? <Pages place={place} page={data} onGo={setPlace} /> : null}
      </section>
      <Conversation entries={data.entries} kept={kept.data} />
      <Rows key={data.entries[0]?.seq} entries={data.entries} />
    </>
  );
}

function Pages({
  place,
  page,
  onGo,
}: {
  readonly place: Place;
  readonly page: RunWindow;
  readonly onGo: (place: Place) => void;
}): ReactNode {
  const { earlier, later } = neighbours(place, page.cursor);
  const [first, last] = rangeOf(place, page).map((number) => number.toLocaleString());
  const go = (next: Place | undefined, words: string) => (): void => {
    if (next === undefined) return;
    onGo(next);
    announce(words);
  };
  return (
    <nav className="pages" aria-label="Parts of the timeline">
      <button type="button" disabled={earlier === undefined} onClick={go(BEGIN, "The beginning")}>
        « Beginning
      </button>
      <button
        type="button"
        disabled={earlier === undefined}
        onClick={go(earlier, "Earlier receipts")}
      >
        ← Earlier
      </button>
      <span className="number">
        {first} to {last} of {page.total.toLocaleString()}
      </span>
      <button type="button" disabled={later === undefined} onClick={go(later, "Later receipts")}>
        Later →
      </button>
      <button type="button" disabled={later === undefined} onClick={go(END, "The end")}>
        End »
      </button>
    </nav>
  );
}

function Rows({ entries }: Pick<RunWindow, "entries">): ReactNode {
  const [rows, setRows] = useState(ROWS);
  return (
    <section className="card" aria-labelledby="receipts">
      <h2 id="receipts">Receipts</h2>
      <EntryTable entries={entries.slice(0, rows)} isOfOneRun />
      {rows < entries.length ? (
        <p>
          <button type="button" onClick={() => setRows(rows + ROWS)}>
            Show {Math.min(ROWS, entries.length - rows)} more
          </button>
        </p>
      ) : null}
    </section>
  );
}
