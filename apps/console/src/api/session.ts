import { useSyncExternalStore } from "react";

/** Whether somebody is signed in, and why not any more. */
export type Session = {
  readonly token: string | undefined;
  /** What led back to the login, in words. */
  readonly reason: string | undefined;
};

const KEY = "countersign.admin-token";
const listeners = new Set<() => void>();
let session: Session = { token: kept(), reason: undefined };

/** Where storage is forbidden there is nothing kept, and nothing to tell. */
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

/** Starts to use a token; it outlives a reload of this tab only if the operator says so. */
export function signIn(token: string, isKept: boolean): void {
  try {
    if (isKept) sessionStorage.setItem(KEY, token);
  } catch {
    // It then lasts until the page is loaded again.
  }
  replace({ token, reason: undefined });
}

/** Forgets the token, and says why. */
export function signOut(reason?: string): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Where nothing could be kept nothing is left.
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
