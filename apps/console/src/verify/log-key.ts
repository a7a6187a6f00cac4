import { useSyncExternalStore } from "react";

const KEY = "countersign.log-key";
const listeners = new Set<() => void>();
let pinned = kept();

function kept(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Pins the log's public key in this browser, so that a change is noticed. The key is public. */
export function pinLogKey(key: string | undefined): void {
  pinned = key;
  try {
    if (key === undefined) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, key);
  } catch {
    // It then lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

/** The key that the operator pinned. */
export function usePinnedLogKey(): string | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => pinned,
  );
}
