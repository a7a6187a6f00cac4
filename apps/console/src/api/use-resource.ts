import { useCallback, useEffect, useRef, useState } from "react";
import { ControlProblem, fetchJson } from "./request.js";

/** The state of a request. While it is repeated, the last data stays. */
export type Resource<Data> = {
  readonly data: Data | undefined;
  readonly problem: ControlProblem | undefined;
  /** Repeats the request now. */
  reload(): void;
};

/**
 * Fetches a resource of the control plane, and again every `every` milliseconds while the tab is visible.
 *
 * @param path `undefined` sends no request
 */
export function useResource<Data>(
  path: string | undefined,
  every?: number,
  read: (path: string, options: { signal: AbortSignal }) => Promise<Data> = fetchJson,
): Resource<Data> {
  const [state, setState] = useState<{
    path: string | undefined;
    data?: Data;
    problem?: ControlProblem;
  }>({ path });
  const [round, setRound] = useState(0);
  const reader = useRef(read);
  reader.current = read;
  useEffect(() => {
    if (path === undefined) return undefined;
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (isFirst: boolean): Promise<void> => {
      // A tab opened in the background loads once, so that it is filled when the operator opens it.
      if (isFirst || !document.hidden) {
        try {
          const data = await reader.current(path, { signal: gone.signal });
          if (!gone.signal.aborted) setState({ path, data });
        } catch (error) {
          if (gone.signal.aborted) return;
          const problem = error instanceof ControlProblem ? error : unreadable();
          setState((last) => ({ ...last, path, problem }));
          // Polling does not make a missing resource appear; `reload` tries again.
          if (problem.status === 404) return;
        }
      }
      if (every !== undefined && !gone.signal.aborted) timer = setTimeout(look, every, false);
    };
    void look(true);
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [path, every, round]);
  const isCurrent = state.path === path;
  return {
    data: isCurrent ? state.data : undefined,
    problem: isCurrent ? state.problem : undefined,
    reload: useCallback(() => setRound((last) => last + 1), []),
  };
}

function unreadable(): ControlProblem {
  return new ControlProblem(0, "UNREADABLE", "The gateway's response could not be read");
}
