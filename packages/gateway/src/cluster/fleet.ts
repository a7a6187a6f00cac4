import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { within } from "../base/within.js";
import { createTicketSeal } from "../access/ticket-seal.js";
import type { TicketSeal } from "../access/ticket-seal.js";
import type { Journal } from "../base/ports.js";
import { isSameToken } from "../sessions/sessions.js";
import type { HandedToken, Sessions } from "../sessions/sessions.js";
import "../base/errors.js";
import { ORDER_PAGE } from "./fleet-store.js";
import type { FleetMember, FleetRow, FleetStore, NumberedOrder } from "./fleet-store.js";
import { follow } from "../store/follow.js";
import type { Following } from "../store/follow.js";
import type { Signals } from "../store/signals.js";
import type { FleetOrder, OrderAnswer, SignStopped, StopOrder } from "../sessions/orders.js";
import { readOperator, sealOperator } from "./order-operator.js";
import { OrderSlots } from "./order-slots.js";
import { SessionBeats } from "./session-beats.js";
import { stopRuns } from "../sessions/orders.js";

/** The signals that there are new orders, and that an order (its id) has a new answer. */
const ORDERS_SIGNAL = "orders";
const ANSWERS_SIGNAL = "answers";

const BEAT_MS = 1000;
/** Heartbeats between two sweeps. */
const SWEEP_BEATS = 30;
/** Timeout of an order: two polls of every gateway, and a slow database. */
const ANSWERS_MS = 3000;
const ANSWERS_STEP_MS = 50;
/** How long an answer waits for its receipts, so that the sender finds them in the log. */
const SIGN_MS = 1000;
/** Maximum length of a sealed token: the longest token a session accepts, in base64, with its envelope. */
const MAX_SEALED = 400_000;
/** How long a gateway that stops tries to remove its rows; without this they expire after five seconds. */
const LEAVE_MS = 1000;
/** Ids of executed orders kept for deduplication; the database keeps orders for a minute. */
const MAX_DONE = 10_000;

/** The reason given to a run that another gateway's order stops. */
const REASONS = { operator: "an operator stopped it", person: "stop was asked for" } as const;

/** Publishes this gateway's sessions to the other gateways of the log, and executes their orders. */
export class Fleet {
  readonly #store: FleetStore;
  readonly #journal: Journal;
  readonly #seal: TicketSeal;
  readonly #done = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  #following: Following | undefined;
  readonly #slots = new OrderSlots();
  readonly #signals: Signals | undefined;
  readonly #endListening: (() => void) | undefined;
  /** By order: wakes its sender to read the answers. */
  readonly #answered = new Map<string, () => void>();
  #signStopped: SignStopped | undefined;
  #isClosed = false;
  #isSilent = false;

  /**
   * @param sealKey shared by all gateways of the log
   * @param signals wakes gateways for orders and answers; without it they poll
   */
  constructor(store: FleetStore, journal: Journal, sealKey: Uint8Array, signals?: Signals) {
    this.#store = store;
    this.#signals = signals;
    this.#endListening = signals?.listen(ANSWERS_SIGNAL, {
      onSignal: (id) => this.#answered.get(id)?.(),
      onListening: () => {
        for (const read of this.#answered.values()) read();
      },
    });
    this.#seal = createTicketSeal(sealKey, MAX_SEALED);
    this.#journal = journal;
  }

  /** Sets the function that signs for runs ended by another gateway's order, even when the sender no longer waits. */
  signWith(sign: SignStopped): void {
    this.#signStopped = sign;
  }

  /** Publishes these sessions from now on, and executes orders of other gateways on them. */
  async start(sessions: Sessions, gateway: string, facts: () => JsonObject): Promise<void> {
    let isKnown = true;
    const beats = new SessionBeats(sessions, gateway);
    this.#following = await follow<NumberedOrder>(
      { readAfter: (serial) => this.#store.ordersAfter(serial), page: ORDER_PAGE },
      {
        // Orders from before this gateway started do not concern its runs.
        onEntry: (entry) => this.#receive(entry, isKnown ? undefined : sessions, gateway),
        onStale: (isStale) => {
          this.#onResponse(!isStale);
          // The database may have removed orders with tokens during the outage.
          if (!isStale) void this.#loadTokens(sessions).catch(() => undefined);
        },
      },
      { wake: this.#signals && { signals: this.#signals, name: ORDERS_SIGNAL } },
    );
    isKnown = false;
    const beat = async (count: number): Promise<void> => {
      try {
        const news = beats.next(performance.now());
        const isNew = await this.#store.beat({ facts: facts(), ...news });
        // A crash of the database empties its unlogged tables.
        if (isNew && count > 0) {
          beats.forget();
          this.#following?.restart();
        }
        if (count % SWEEP_BEATS === 0) await this.#store.sweep();
      } catch {
        beats.forget();
        // Orders are read less often where signals wake: the outage is noticed here.
        this.#following?.restart();
      }
      if (this.#isClosed) return;
      this.#timer = setTimeout(() => {
        this.#beating = beat(count + 1);
      }, BEAT_MS);
      this.#timer.unref();
    };
    this.#beating = beat(0);
    await this.#beating;
    // After the first heartbeat: from then on, senders of tokens wait for this gateway too.
    await this.#loadTokens(sessions);
  }

  /** The other live gateways. */
  members(): Promise<FleetMember[]> {
    return this.#store.members();
  }

  /** Milliseconds since the last heartbeat of a gateway; `undefined` if the database does not know it. */
  heartbeatAge(gateway: string): Promise<number | undefined> {
    return this.#store.heartbeatAge(gateway);
  }

  /** Sessions at the other gateways. */
  sessions(session?: string): Promise<FleetRow[]> {
    return this.#store.sessions(session);
  }

  /**
   * Stops a person's runs at the other gateways. Resolves with their answers once every live
   * gateway has answered.
   *
   * @throws CountersignError `ERR_FLEET_SILENT` when a gateway does not answer and no other had
   * such a run
   */
  async stop(stop: StopOrder): Promise<readonly OrderAnswer[]> {
    return (await this.#stop(randomUUID(), { kind: "stop", stop })).answers;
  }

  /**
   * Stops runs for an operator. Each gateway signs for the runs it ends under the operator's name,
   * even after the timeout. `isPartial`: one gateway had such a run and another did not answer.
   *
   * @throws CountersignError `ERR_FLEET_SILENT` as {@link stop} does
   */
  async stopFor(
    operator: string,
    stop: StopOrder,
  ): Promise<{ readonly answers: readonly OrderAnswer[]; readonly isPartial: boolean }> {
    const id = randomUUID();
    const by = sealOperator(this.#seal, id, stop, operator);
    return this.#stop(id, { kind: "stop", stop, by });
  }

  async #stop(
    id: string,
    order: FleetOrder & { readonly kind: "stop" },
  ): Promise<{ readonly answers: readonly OrderAnswer[]; readonly isPartial: boolean }> {
    const isFound = (answers: readonly OrderAnswer[]): boolean =>
      answers.some(({ stopped }) => stopped.length > 0);
    // A run is at one gateway; a session may have runs at several.
    const isOneRun = order.stop.run !== undefined;
    const { answers, missing } = await this.#ask(id, order, isOneRun ? isFound : () => false);
    if (missing > 0 && !isFound(answers)) throw silent(missing);
    return { answers, isPartial: missing > 0 && !isOneRun };
  }

  /**
   * Sends a session's token to the other gateways, and stores it for gateways that start before it
   * expires (seconds).
   *
   * @throws CountersignError `ERR_FLEET_SILENT` when one of them does not answer
   */
  async hand(session: string, handed: HandedToken, expiresAt: number): Promise<void> {
    const sealed = this.#seal.seal({ session, ...handed });
    await this.#store.keepToken({ session, handed, sealed, expiresAt });
    const { missing } = await this.#ask(randomUUID(), { kind: "hand", sealed }, () => false);
    if (missing > 0) throw silent(missing);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endListening?.();
    clearTimeout(this.#timer);
    await this.#beating;
    clearTimeout(this.#timer);
    await this.#following?.stop();
    const left = this.#store.leave().catch(() => undefined);
    await within(left, LEAVE_MS);
    await this.#store.close();
  }

  /** Writes an order and waits until all live gateways have answered, `isEnough` holds, or the timeout passes. */
  async #ask(
    id: string,
    order: FleetOrder,
    isEnough: (answers: readonly OrderAnswer[]) => boolean,
  ): Promise<{ answers: readonly OrderAnswer[]; missing: number }> {
    const free = this.#slots.take(order.kind === "stop" ? order.stop.principal : undefined);
    if (free === undefined) throw silent(0);
    try {
      const members = await this.#store.members();
      if (members.length === 0) return { answers: [], missing: 0 };
      this.#markDone(id);
      let wake = (): void => {};
      let isAwake = false;
      this.#answered.set(id, () => {
        isAwake = true;
        wake();
      });
      await this.#store.order(id, order);
      this.#signals?.signal(ORDERS_SIGNAL, "");
      const until = performance.now() + ANSWERS_MS;
      for (;;) {
        if (!isAwake) {
          await within(
            new Promise<void>((resolve) => {
              wake = resolve;
            }),
            ANSWERS_STEP_MS,
          );
        }
        isAwake = false;
        const answers = await this.#store.answers(id);
        const answered = new Set(answers.map(({ gateway }) => gateway));
        const missing = members.filter((one) => !answered.has(one.id)).length;
        if (missing === 0 || isEnough(answers) || performance.now() >= until) {
          return { answers, missing };
        }
      }
    } finally {
      this.#answered.delete(id);
      free();
    }
  }

  /** Loads the tokens handed to sessions before this gateway started, or during an outage. */
  async #loadTokens(sessions: Sessions): Promise<void> {
    const kept = (await this.#store.keptTokens()).flatMap(({ sealed, at }) => {
      const read = readHandedToken(this.#seal.open(sealed));
      return read === undefined ? [] : [{ ...read, at }];
    });
    // A session that has all of them keeps its position. Another one gets all of them, so that their order is right.
    const isNew = ({ session, handed }: (typeof kept)[number]): boolean =>
      sessions.find(session)?.tokens.some((one) => isSameToken(one, handed)) !== true;
    const behind = new Set(kept.filter(isNew).map(({ session }) => session));
    for (const { session, handed, at } of kept) {
      if (behind.has(session)) sessions.addToken(session, handed, at);
    }
  }

  #receive(
    { id, from, order }: NumberedOrder,
    sessions: Sessions | undefined,
    gateway: string,
  ): void {
    if (this.#done.has(id)) return;
    this.#markDone(id);
    if (sessions === undefined || from === gateway) return;
    const stopped = this.#execute(order, sessions);
    if (stopped === undefined) return;
    const operator = stopped.length === 0 ? undefined : readOperator(this.#seal, id, order);
    // When the answer cannot be written, the sender reports a timeout.
    void this.#answer(id, stopped, operator).catch(() => undefined);
  }

  async #answer(
    id: string,
    stopped: OrderAnswer["stopped"],
    operator: string | undefined,
  ): Promise<void> {
    const signing = operator === undefined ? undefined : this.#signStopped?.(operator, stopped);
    const signed = signing?.catch(() => {
      this.#journal.error({ operator, act: "stop" }, "an action of an operator has no receipt");
      return false;
    });
    // A slow log gets the receipts later. When the log rejects them, the sender signs if it still waits.
    const signs =
      signed !== undefined && (await Promise.race([signed, delay(SIGN_MS, true, { ref: false })]));
    await this.#store.answer(id, { stopped, ...(signs ? { signs } : {}) });
    this.#signals?.signal(ANSWERS_SIGNAL, id);
  }

  /** Executes an order and returns the stopped runs; `undefined` when it cannot be read. */
  #execute(order: FleetOrder, sessions: Sessions): OrderAnswer["stopped"] | undefined {
    if (order.kind === "stop") {
      const isPersons = order.stop.principal !== undefined;
      return stopRuns(sessions, order.stop, isPersons ? REASONS.person : REASONS.operator);
    }
    // The order of a newer gateway.
    if (order.kind !== "hand") return undefined;
    const read = readHandedToken(this.#seal.open(order.sealed));
    if (read === undefined) return undefined;
    sessions.addToken(read.session, read.handed);
    return [];
  }

  #markDone(id: string): void {
    this.#done.add(id);
    if (this.#done.size <= MAX_DONE) return;
    const [oldest] = this.#done;
    if (oldest !== undefined) this.#done.delete(oldest);
  }

  #onResponse(didAnswer: boolean): void {
    if (this.#isSilent === !didAnswer) return;
    this.#isSilent = !didAnswer;
    if (didAnswer) this.#journal.info({}, "other gateways respond again");
    else this.#journal.warn({ code: "FLEET_SILENT" }, "other gateways do not respond");
  }
}

/** Reads the sealed content of a handed token; `undefined` for anything else. */
function readHandedToken(
  opened: JsonObject | undefined,
): { readonly session: string; readonly handed: HandedToken } | undefined {
  const { session, token, principal } = opened ?? {};
  if (typeof session !== "string" || typeof token !== "string") return undefined;
  if (principal === undefined) return { session, handed: { token } };
  return typeof principal === "string" ? { session, handed: { token, principal } } : undefined;
}

function silent(gateways: number): CountersignError<"ERR_FLEET_SILENT"> {
  const message = "other gateways that may have the run did not respond; try again";
  return new CountersignError("ERR_FLEET_SILENT", message, { gateways });
}
