import { useSyncExternalStore } from "react";

/** What an operator may do: read; also act on runs and tokens; also change the policy. */
export const ROLES = ["viewer", "operator", "admin"] as const;

/** The role of an operator. */
export type Role = (typeof ROLES)[number];

/** `GET /v1/me`. */
export type Me = {
  readonly operator: string;
  readonly role: Role;
  readonly method: string;
  /** Repeated with each change; only this page can read it. */
  readonly csrf?: string;
};

/**
 * The operator's session. The gateway keeps it and the browser has its cookie, which no script can read; the page
 * keeps no token.
 */
export type Session =
  /** The page has not asked the gateway yet. */
  | { readonly state: "unknown" }
  | { readonly state: "in"; readonly me: Me }
  | {
      readonly state: "out";
      /** Why the last session ended, in words. */
      readonly reason: string | undefined;
    };

const listeners = new Set<() => void>();
let session: Session = { state: "unknown" };

function replace(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

/** The CSRF token of the session. */
export function currentCsrf(): string | undefined {
  return session.state === "in" ? session.me.csrf : undefined;
}

/** Begins a session of this page. */
export function begin(me: Me): void {
  replace({ state: "in", me });
}

/** Ends the session of this page and stores the reason. */
export function end(reason?: string): void {
  replace({ state: "out", reason });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The session, for a component. */
export function useSession(): Session {
  return useSyncExternalStore(subscribe, () => session);
}

/** The operator of the session, for a component of a page. */
export function useMe(): Me {
  const current = useSession();
  if (current.state !== "in") throw new TypeError("an operator is known on pages only");
  return current.me;
}

/** Whether a role has at least the rights of another one. */
export function hasRole(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}
