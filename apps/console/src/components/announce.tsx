import { useSyncExternalStore } from "react";
import type { ReactNode } from "react";

const listeners = new Set<() => void>();
let said = "";

/** Tells those who listen instead of look: outcomes of what they did, never the stream of events. */
export function announce(text: string): void {
  said = text;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The place where it is said; one for the whole page. */
export function Announcements(): ReactNode {
  const text = useSyncExternalStore(subscribe, () => said);
  return (
    <p className="unseen" role="status" aria-live="polite">
      {text}
    </p>
  );
}
