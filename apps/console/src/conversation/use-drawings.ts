import { useEffect, useState } from "react";
import type { Entry } from "../api/responses.js";
import type { DrawingView } from "./drawing-view.js";
import type { Drawings } from "./drawings.js";
import type { Payloads } from "./steps.js";

/** The interfaces of a run, and the component that displays one. */
export type LoadedDrawings = Drawings & { readonly View: typeof DrawingView };

const DRAWS = /^(?:ACTIVITY_|TOOL_CALL_RESULT$|TOOL_CALL_END$)/u;

/** Reads the interfaces of a run. The code for it is loaded when a run may have some. */
export function useDrawings(
  entries: readonly Entry[],
  payloads: Payloads,
): LoadedDrawings | undefined {
  const [loaded, setLoaded] = useState<LoadedDrawings>();
  useEffect(() => {
    if (![...payloads.values()].some(mayDraw)) return undefined;
    let isGone = false;
    void Promise.all([import("./drawings.js"), import("./drawing-view.js")]).then(
      ([{ drawingsOf }, { DrawingView: View }]) => {
        if (!isGone) setLoaded({ ...drawingsOf(entries, payloads), View });
      },
    );
    return () => {
      isGone = true;
    };
  }, [entries, payloads]);
  return loaded;
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
