import type { JsonObject } from "@countersign/core";
import { sessionView } from "../sessions/session-view.js";
import type { Session, Sessions } from "../sessions/sessions.js";
import type { Beat } from "./fleet-store.js";

/** Sessions published to other gateways, the most recently used ones. */
export const MAX_SHOWN = 1000;
/** Sessions per heartbeat; the others wait for the next one. */
const MAX_CHANGED = 200;
/** Milliseconds between two updates of a session in which only counters changed. */
const FIGURES_MS = 5000;

/** The last published state of a session, and its time. */
type Published = { readonly shape: string; readonly figures: number; readonly at: number };

/** Computes once a second which sessions the other gateways do not know yet. */
export class SessionBeats {
  readonly #sessions: Sessions;
  readonly #gateway: string;
  #published = new Map<string, Published>();

  constructor(sessions: Sessions, gateway: string) {
    this.#sessions = sessions;
    this.#gateway = gateway;
  }

  /** Changes since the last call, which are then taken as published. `now` in milliseconds. */
  next(now: number): Omit<Beat, "facts"> {
    const changed: Beat["changed"][number][] = [];
    const published = new Map<string, Published>();
    for (const session of this.#sessions.recent(MAX_SHOWN)) {
      const before = this.#published.get(session.id);
      const news = changed.length < MAX_CHANGED ? newsOf(session, before, now) : undefined;
      if (news !== undefined) {
        const view = sessionView(session, this.#gateway) as unknown as JsonObject;
        changed.push({ session: session.id, lastSeen: session.lastSeen, view });
      }
      const entry = news ?? before;
      if (entry !== undefined) published.set(session.id, entry);
    }
    const gone = [...this.#published.keys()].filter((id) => !published.has(id));
    this.#published = published;
    return { changed, gone };
  }

  /** Publishes everything again, because a write may have failed. */
  forget(): void {
    this.#published = new Map();
  }
}

function newsOf(
  session: Session,
  before: Published | undefined,
  now: number,
): Published | undefined {
  const { lastSeen, counters, tokens, runs } = session;
  let shape = `${lastSeen} ${tokens.length}`;
  for (const { runId, status } of runs.values()) shape += `\n${runId} ${status}`;
  const figures = counters.forwarded + counters.blocked;
  if (before?.shape === shape) {
    if (before.figures === figures || now - before.at < FIGURES_MS) return undefined;
  }
  return { shape, figures, at: now };
}
