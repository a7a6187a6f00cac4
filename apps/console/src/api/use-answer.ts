import { useCallback, useEffect, useRef, useState } from "react";
import { ControlProblem, ask } from "./request.js";

/** An answer that is awaited, there, or refused; while it is asked for again the last one stays. */
export type Asked<Answer> = {
  readonly answer: Answer | undefined;
  readonly problem: ControlProblem | undefined;
  /** Asks again now. */
  reload(): void;
};

/**
 * Asks the control plane, again every so many milliseconds while somebody looks at the page.
 *
 * @param path nothing asks nothing
 */
export function useAnswer<Answer>(
  path: string | undefined,
  every?: number,
  read: (path: string, options: { signal: AbortSignal }) => Promise<Answer> = ask,
): Asked<Answer> {
  const [state, setState] = useState<{
    path: string | undefined;
    answer?: Answer;
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
      // A tab that was opened in the background is asked for once; who looks later finds it filled.
      if (isFirst || !document.hidden) {
        try {
          const answer = await reader.current(path, { signal: gone.signal });
          if (!gone.signal.aborted) setState({ path, answer });
        } catch (error) {
          if (gone.signal.aborted) return;
          const problem = error instanceof ControlProblem ? error : unreadable();
          setState((last) => ({ ...last, path, problem }));
          // What is not there does not come by asking; whoever wants it again asks.
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
    answer: isCurrent ? state.answer : undefined,
    problem: isCurrent ? state.problem : undefined,
    reload: useCallback(() => setRound((last) => last + 1), []),
  };
}

function unreadable(): ControlProblem {
  return new ControlProblem(0, "UNREADABLE", "The gateway's answer could not be read");
}
