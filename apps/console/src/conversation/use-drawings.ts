import { useEffect, useMemo, useRef, useState } from "react";
import type { Entry } from "../api/responses.js";
import type { DrawingView } from "./drawing-view.js";
import type { Drawings, drawingsOf } from "./drawings.js";
import { readRunBefore } from "./read-run-before.js";
import type { KeptRun } from "./read-run-before.js";
import type { Payloads } from "./steps.js";

/** The interfaces of a run, and the component that displays one. */
export type LoadedDrawings = Drawings & { readonly View: typeof DrawingView };

type Loaded = {
  readonly read: typeof drawingsOf;
  readonly View: typeof DrawingView;
  readonly before: KeptRun | undefined;
};

const DRAWS = /^(?:ACTIVITY_|TOOL_CALL_RESULT$|TOOL_CALL_END$|MESSAGES_SNAPSHOT$)/u;

/** Reads the interfaces of a run. The code for it is loaded when a run may have some. */
export function useDrawings(
  entries: readonly Entry[],
  payloads: Payloads,
): LoadedDrawings | undefined {
  const [loaded, setLoaded] = useState<Loaded>();
  const latest = useRef(entries);
  latest.current = entries;
  // Once for the payloads: an open run gets new receipts every two seconds, and reading the run before is a receipt.
  useEffect(() => {
    if (![...payloads.values()].some(mayDraw)) return undefined;
    const gone = new AbortController();
    void load({ entries: latest.current, payloads }, gone.signal).then((found) => {
      if (!gone.signal.aborted) setLoaded(found);
    });
    return () => gone.abort();
  }, [payloads]);
  return useMemo(
    () =>
      loaded === undefined
        ? undefined
        : { ...loaded.read({ entries, payloads }, loaded.before), View: loaded.View },
    [loaded, entries, payloads],
  );
}

async function load(run: KeptRun, signal: AbortSignal): Promise<Loaded> {
  const [{ drawingsOf: read }, { DrawingView: View }, before] = await Promise.all([
    import("./drawings.js"),
    import("./drawing-view.js"),
    // A page that was left aborts it.
    readRunBefore(run, { signal }).catch(() => undefined),
  ]);
  return { read, View, before };
}

function mayDraw(payload: unknown): boolean {
  if (typeof payload !== "object" || payload === null) return false;
  const { type, forwardedProps, result } = payload as Readonly<Record<string, unknown>>;
  return (
    forwardedProps !== undefined ||
    result !== undefined ||
    (typeof type === "string" && DRAWS.test(type))
  );
}
