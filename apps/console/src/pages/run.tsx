import { useState } from "react";
import type { ReactNode } from "react";
import type { ChatSession, Entries, Entry, Run } from "../api/answers.js";
import { ask } from "../api/request.js";
import { useAnswer } from "../api/use-answer.js";
import { useMeaning } from "../api/use-meaning.js";
import { hrefOf } from "../route/route.js";
import { StateBadge } from "../shown/badge.js";
import { Figure } from "../shown/figure.js";
import { Empty, Failure, Loading } from "../shown/states.js";
import { Text } from "../shown/text.js";
import { Age, Time } from "../shown/time.js";
import { Words } from "../shown/words.js";
import { Timeline } from "../timeline/timeline.js";
import { EntryTable } from "./entry-table.js";
import { StopRun } from "./stop-run.js";

const PAGE = 1000;
/** Receipts that are drawn; the log has all. */
const MAX_DRAWN = 2000;
const ROWS = 200;

/** One run: how it is, and its receipts in order. */
export function RunPage({
  session,
  run,
}: {
  readonly session: string;
  readonly run: string;
}): ReactNode {
  const known = useAnswer<ChatSession>(`/v1/sessions/${encodeURIComponent(session)}`, 2000);
  const found = known.answer?.runs.find((one) => one.run_id === run);
  const own: Run | undefined = found === undefined ? undefined : { ...found, session_id: session };
  const filter = new URLSearchParams({ session_id: session, run_id: run }).toString();
  const isOpen = own?.status === "running";
  const path = `/v1/receipts?${filter}&order=oldest&limit=${PAGE}`;
  const receipts = useAnswer<Drawn>(path, isOpen ? 2000 : undefined, readDrawn);
  const [isStopping, setStopping] = useState(false);
  return (
    <>
      <p>
        <a href="#/runs">Runs</a>
      </p>
      <div className="head">
        <h1 tabIndex={-1}>
          Run <Text value={run} isWrapped />
        </h1>
        {isOpen ? (
          <button type="button" className="danger" onClick={() => setStopping(true)}>
            Stop
          </button>
        ) : null}
      </div>
      {own === undefined ? (
        <p className="faint">
          {known.answer === undefined && known.problem === undefined
            ? "Asking for its state…"
            : "No gateway remembers this run any more; these are its receipts."}
        </p>
      ) : (
        <Facts run={own} />
      )}
      {receipts.answer === undefined ? (
        receipts.problem === undefined ? (
          <Loading what="its receipts" />
        ) : (
          <Failure problem={receipts.problem} onRetry={receipts.reload} />
        )
      ) : (
        <Receipts drawn={receipts.answer} filter={{ session_id: session, run_id: run }} />
      )}
      {isStopping && own !== undefined ? (
        <StopRun
          run={own}
          onDone={() => {
            setStopping(false);
            known.reload();
            receipts.reload();
          }}
        />
      ) : null}
    </>
  );
}

function Facts({ run }: { readonly run: Run }): ReactNode {
  const meaning = useMeaning(run.failure);
  return (
    <>
      <section className="figures" aria-label="The run">
        <Figure title="State" note={<Age since={run.started_at} until={run.ended_at} />}>
          <StateBadge name={run.status} />
        </Figure>
        <Figure title="Agent" note={run.transport}>
          <Text value={run.agent} />
        </Figure>
        <Figure title="Let through" note="events">
          {run.forwarded.toLocaleString()}
        </Figure>
        <Figure title="Blocked" note="events">
          {run.blocked.toLocaleString()}
        </Figure>
        <Figure
          title="Session"
          href={hrefOf(["receipts"], { session_id: run.session_id })}
          note={<Text value={run.thread_id} />}
        >
          <Text value={run.session_id} />
        </Figure>
        <Figure title="Began" note={<Text value={run.gateway} />}>
          <Time at={run.started_at} />
        </Figure>
      </section>
      {run.failure === undefined ? null : (
        <p className="notice bad">
          <span>
            It ended with{" "}
            <code>
              <Text value={run.failure} isWrapped />
            </code>
            .<Words text={meaning === undefined ? "" : ` What helps: ${meaning.remedy}.`} />
          </span>
        </p>
      )}
    </>
  );
}

function Receipts({
  drawn,
  filter,
}: {
  readonly drawn: Drawn;
  readonly filter: { readonly session_id: string; readonly run_id: string };
}): ReactNode {
  const [rows, setRows] = useState(ROWS);
  const { entries } = drawn;
  if (entries.length === 0) {
    return (
      <Empty title="No receipts of this run">The log has nothing under this session and run.</Empty>
    );
  }
  return (
    <>
      <section className="card" aria-labelledby="timeline">
        <h2 id="timeline">Timeline</h2>
        <Timeline entries={entries} />
        {drawn.isCut ? (
          <p className="faint">
            The first {entries.length.toLocaleString()} are drawn;{" "}
            <a href={hrefOf(["receipts"], filter)}>the log has all</a>.
          </p>
        ) : null}
      </section>
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
    </>
  );
}

type Drawn = { readonly entries: readonly Entry[]; readonly isCut: boolean };

async function readDrawn(path: string, options: { signal: AbortSignal }): Promise<Drawn> {
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page: Entries = await ask(
      cursor === undefined ? path : `${path}&cursor=${encodeURIComponent(cursor)}`,
      options,
    );
    entries.push(...page.entries);
    cursor = page.cursor;
  } while (cursor !== undefined && entries.length < MAX_DRAWN);
  return { entries, isCut: cursor !== undefined };
}
