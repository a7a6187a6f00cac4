import type { JsonObject } from "@countersign/core";
import { sessionView } from "../sessions/session-view.js";
import type { Session } from "../sessions/session.js";
import type { Sessions } from "../sessions/sessions.js";
import type { Beat } from "./fleet-store.js";

/** Sessions shown to other gateways, the ones used last. */
export const MAX_SHOWN = 1000;
/** Sessions written at once; the rest waits for the next second. */
const MAX_CHANGED = 200;
/** How often figures of a session are told that nothing else happened in, in milliseconds. */
const FIGURES_MS = 5000;

/** What was told of a session, and when. */
type Told = { readonly shape: string; readonly figures: number; readonly at: number };

/** Finds out, once a second, what other gateways do not know yet. */
export class SessionBeats {
  readonly #sessions: Sessions;
  readonly #gateway: string;
  #told = new Map<string, Told>();

  constructor(sessions: Sessions, gateway: string) {
    this.#sessions = sessions;
    this.#gateway = gateway;
  }

  /** What changed since the last time; it counts as told. `now` in milliseconds. */
  next(now: number): Omit<Beat, "facts"> {
    const changed: Beat["changed"][number][] = [];
    const told = new Map<string, Told>();
    for (const session of this.#sessions.recent(MAX_SHOWN)) {
      const before = this.#told.get(session.id);
      const news = changed.length < MAX_CHANGED ? newsOf(session, before, now) : undefined;
      if (news !== undefined) {
        const view = sessionView(session, this.#gateway) as unknown as JsonObject;
        changed.push({ session: session.id, lastSeen: session.lastSeen, view });
      }
      const entry = news ?? before;
      if (entry !== undefined) told.set(session.id, entry);
    }
    const gone = [...this.#told.keys()].filter((id) => !told.has(id));
    this.#told = told;
    return { changed, gone };
  }

  /** Nothing is certain to have arrived: all of it is told again. */
  forget(): void {
    this.#told = new Map();
  }
}

function newsOf(session: Session, before: Told | undefined, now: number): Told | undefined {
  const { lastSeen, counters, tokens, runs } = session;
  let shape = `${lastSeen} ${tokens.length}`;
  for (const { runId, status } of runs.values()) shape += `\n${runId} ${status}`;
  const figures = counters.forwarded + counters.blocked;
  if (before?.shape === shape) {
    if (before.figures === figures || now - before.at < FIGURES_MS) return undefined;
  }
  return { shape, figures, at: now };
}
