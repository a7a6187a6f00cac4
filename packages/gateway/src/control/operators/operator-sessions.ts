import { encodeBase64Url, sha256Hex } from "@countersign/core";
import { randomBytes } from "node:crypto";
import type { Role } from "../../access/operators.js";
import type { Clock } from "../../base/ports.js";

/** How an operator proved who they are. */
export type LoginMethod = "token" | "oidc" | "mtls";

/** Proof of an operator's identity, whose role may change or end while it is used. */
export type Credential = {
  /** The name in receipts. Names of different methods never coincide. */
  readonly name: string;
  readonly method: LoginMethod;
  /** The role now; `undefined` when the credential is no longer valid. */
  role(): Role | undefined;
};

/** How long a session of a browser lasts. */
export type SessionTimes = {
  /** Milliseconds without a request. */
  readonly idleMs: number;
  /** Milliseconds since the login, whatever happens. */
  readonly longestMs: number;
};

/** The session of one browser. */
export type OperatorSession = {
  readonly credential: Credential;
  /** The browser repeats it in a header of each change: a page of another origin cannot read it. */
  readonly csrf: string;
  readonly startedAt: number;
  lastSeen: number;
};

/** Sessions at once; a login beyond it ends the one that was used least recently. */
const MAX_SESSIONS = 1000;

/** Sessions of operators' browsers. In memory: a restart ends all of them. */
export class OperatorSessions {
  /** By the hash of the id: a search by the id itself would reveal, by its time, how much of it is right. */
  readonly #sessions = new Map<string, OperatorSession>();
  readonly #clock: Clock;
  readonly #times: SessionTimes;
  readonly #limit: number;

  constructor(clock: Clock, times: SessionTimes, limit: number = MAX_SESSIONS) {
    this.#clock = clock;
    this.#times = times;
    this.#limit = limit;
  }

  /** Starts a session under a new id: an id that somebody put into the browser before is worth nothing. */
  open(credential: Credential): { readonly id: string; readonly session: OperatorSession } {
    const id = encodeBase64Url(randomBytes(32));
    const now = this.#clock.now();
    const csrf = encodeBase64Url(randomBytes(32));
    const session = { credential, csrf, startedAt: now, lastSeen: now };
    this.#sessions.set(sha256Hex(id), session);
    if (this.#sessions.size > this.#limit) this.#evictOne();
    return { id, session };
  }

  /** The session of an id, which is used by this; `undefined` when it ended or never was. */
  find(id: string): OperatorSession | undefined {
    const key = sha256Hex(id);
    const session = this.#sessions.get(key);
    if (session === undefined) return undefined;
    if (!this.isOpen(session)) {
      this.#sessions.delete(key);
      return undefined;
    }
    session.lastSeen = this.#clock.now();
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    return session;
  }

  /** Whether a session still counts; open streams ask again and again. */
  isOpen(session: OperatorSession): boolean {
    const now = this.#clock.now();
    return (
      !this.#ended.has(session) &&
      now - session.lastSeen < this.#times.idleMs &&
      now - session.startedAt < this.#times.longestMs &&
      session.credential.role() !== undefined
    );
  }

  /** Ends a session. */
  close(id: string): void {
    const key = sha256Hex(id);
    const session = this.#sessions.get(key);
    if (session !== undefined) this.#ended.add(session);
    this.#sessions.delete(key);
  }

  /** Sessions that were closed while a stream of theirs may be open. */
  readonly #ended = new WeakSet<OperatorSession>();

  #evictOne(): void {
    const [oldest] = this.#sessions;
    if (oldest === undefined) return;
    this.#ended.add(oldest[1]);
    this.#sessions.delete(oldest[0]);
  }
}
