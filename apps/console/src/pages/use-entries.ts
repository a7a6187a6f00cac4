import { useCallback, useEffect, useRef, useState } from "react";
import type { Entries, Entry } from "../api/responses.js";
import { ControlProblem, fetchJson } from "../api/request.js";

const PAGE = 500;

/** Entries that one list holds. */
export const MAX_ENTRIES = 10_000;

type State = {
  readonly asked: string;
  readonly entries: readonly Entry[] | undefined;
  readonly cursor: string | undefined;
  readonly problem: ControlProblem | undefined;
};

/** Entries of the log that match, a page at a time; `more` loads the next one. */
export function useEntries(asked: string): {
  /** `undefined` until the first page has arrived. */
  readonly entries: readonly Entry[] | undefined;
  readonly isComplete: boolean;
  readonly problem: ControlProblem | undefined;
  readonly more: () => void;
  readonly reload: () => void;
} {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<State>(() => begin(asked));
  const latest = useRef(state);
  latest.current = state;
  const gone = useRef<AbortController>(undefined);
  const isBusy = useRef(false);
  const load = useCallback(async (query: string, cursor: string | undefined): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    const { signal } = (gone.current ??= new AbortController());
    try {
      const next = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await fetchJson<Entries>(
        `/v1/receipts?${query}${query === "" ? "" : "&"}limit=${PAGE}${next}`,
        { signal },
      );
      if (signal.aborted) return;
      setState((last) => ({
        asked: query,
        entries: cursor === undefined ? page.entries : [...(last.entries ?? []), ...page.entries],
        cursor: page.cursor,
        problem: undefined,
      }));
    } catch (error) {
      if (signal.aborted) return;
      const problem =
        error instanceof ControlProblem
          ? error
          : new ControlProblem(0, "UNREADABLE", "The gateway's response could not be read");
      setState((last) => ({ ...last, asked: query, problem }));
    } finally {
      if (!signal.aborted) isBusy.current = false;
    }
  }, []);
  useEffect(() => {
    // The rows of the last filter stay in sight until those of the new one have arrived.
    void load(asked, undefined);
    return () => {
      gone.current?.abort();
      gone.current = undefined;
      isBusy.current = false;
    };
  }, [asked, round, load]);
  return {
    entries: state.entries,
    isComplete: state.cursor === undefined,
    problem: state.problem,
    more: useCallback(() => {
      const { cursor, entries } = latest.current;
      if (cursor === undefined || (entries?.length ?? 0) >= MAX_ENTRIES) return;
      if (latest.current.problem === undefined) void load(latest.current.asked, cursor);
    }, [load]),
    reload: useCallback(() => setRound((last) => last + 1), []),
  };
}

function begin(asked: string): State {
  return { asked, entries: undefined, cursor: undefined, problem: undefined };
}
