import { useSyncExternalStore } from "react";

/** The operator's session, and why the last one ended. */
export type Session = {
  readonly token: string | undefined;
  /** The reason for the login page, in words. */
  readonly reason: string | undefined;
};

const KEY = "countersign.admin-token";
const listeners = new Set<() => void>();
let session: Session = { token: kept(), reason: undefined };

/** Reads the stored token; a browser that forbids storage has none. */
function kept(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

function replace(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

/** The token in use; it is never part of an address, and no other tab gets it. */
export function currentToken(): string | undefined {
  return session.token;
}

/** Starts a session with a token. It survives a reload of this tab only if the operator asks for it. */
export function signIn(token: string, isKept: boolean): void {
  try {
    if (isKept) sessionStorage.setItem(KEY, token);
  } catch {
    // It then lasts until the page is loaded again.
  }
  replace({ token, reason: undefined });
}

/** Removes the token and stores the reason. */
export function signOut(reason?: string): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // A browser that forbids storage has stored nothing.
  }
  replace({ token: undefined, reason });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The session, for a component. */
export function useSession(): Session {
  return useSyncExternalStore(subscribe, () => session);
}
