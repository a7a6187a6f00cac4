import type { CompiledPolicy } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import { ANONYMOUS } from "../access/access.js";
import type { Principal } from "../access/access.js";
import type { OwnerClaim } from "../sessions/session-owners.js";
import { FOREIGN, USED } from "./finding.js";
import type { Finding } from "./finding.js";
import { reviewInput } from "./review.js";
import type { InputReview } from "./review.js";
import { assertRoom } from "../thread/conversation.js";
import type { RowClaim, RowName, StoredRow, KeyedStore } from "../store/keyed-store.js";
import { writtenKeys } from "../thread/shared-state.js";
import { DeliveredMessages, isRepeatable } from "../thread/delivered-messages.js";
import { stateOf } from "../thread/thread-state.js";
import { reviewSuggestion, suggestionState, withSuggestionRemedy } from "./suggestion.js";
import type { Clock } from "../base/ports.js";
import { within } from "../base/within.js";
import { OpenThread, ThreadLease, WithheldThreads } from "./thread-lease.js";
import { ThreadLocks } from "./thread-locks.js";
import type { LedgerPeers, ThreadLock } from "./thread-locks.js";

/** A request to admit, with its principal, agent and policy. */
export type AdmissionRequest = {
  readonly agent: string;
  /** The scope of threads without a principal. */
  readonly threadScope: string;
  readonly principal: Principal;
  /** Claims the session for the principal, if its owner is not known yet. */
  readonly sessionClaim?: OwnerClaim | undefined;
  readonly input: RunAgentInput;
  readonly policy: CompiledPolicy;
  /**
   * For a CopilotKit runtime: the run suggests what to say next for `another thread`, or a later run may do so for `this thread`.
   */
  readonly suggestions?: "this thread" | "another thread" | undefined;
};

const ACTIVE: Finding = {
  check: "runs",
  code: "ERR_RUN_ACTIVE",
  reason: "the thread has an open run",
  at: "/threadId",
};

/** How long a request waits until the run before it is saved. */
export const PATIENCE_MS = 5000;
/** How long a request waits for a run whose client may have disconnected. */
const NOTICE_MS = 500;

/** Admits requests to threads; the only owner of their locks and of their withheld content. */
export class ThreadAdmission {
  readonly #store: KeyedStore;
  readonly #clock: Clock;
  readonly #open = new Map<string, OpenThread>();
  readonly #registers = new WithheldThreads();
  readonly #locks: ThreadLocks | undefined;
  readonly #delivered: DeliveredMessages;

  /** @param peers the gateways that write to the same store; without it, no other gateway does */
  constructor(store: KeyedStore, clock: Clock, peers?: LedgerPeers) {
    this.#store = store;
    this.#clock = clock;
    this.#delivered = new DeliveredMessages(clock);
    this.#locks = peers && new ThreadLocks(store, peers);
  }

  /** Reads the thread and reviews the request. Of an unanswered thread that no other gateway shares it writes nothing. */
  async open(request: AdmissionRequest): Promise<ThreadLease> {
    const { input, principal } = request;
    const isKnown = principal.id !== ANONYMOUS.id;
    const key = threadKey(request.agent, isKnown ? "" : request.threadScope, input.threadId);
    // Until the owner is known each principal has a place of its own, so that others can neither delay the owner nor
    // learn of its open run.
    const isOwners = request.policy.request.mode("threads") === "enforce";
    const place = isOwners ? JSON.stringify([key, principal.id]) : key;
    const before = this.#open.get(place);
    // A client that disconnected may send its next run before the gateway has noticed, or before the last write.
    if (before?.isEnding === false) await within(before.whenOver(), NOTICE_MS);
    if (before?.isEnding === true) await within(before.whenOver(), PATIENCE_MS);
    const findings: Finding[] = [];
    const isOpenHere = this.#open.has(place);
    if (isOpenHere) findings.push(ACTIVE);
    // Before any await: of two concurrent requests one must be the second.
    const open = new OpenThread(this.#open, place);
    const lock = isOpenHere ? undefined : this.#locks?.create(key, isOwners ? principal.id : "");
    try {
      return await this.#review(request, key, findings, open, lock);
    } catch (error) {
      if (lock !== undefined) await this.#locks?.release(lock);
      open.leave();
      throw error;
    }
  }

  async #review(
    request: AdmissionRequest,
    key: string,
    findings: Finding[],
    open: OpenThread,
    lock: ThreadLock | undefined,
  ): Promise<ThreadLease> {
    const { agent, threadScope, input, policy, principal, sessionClaim, suggestions } = request;
    const runClaim: RowClaim = {
      partition: key,
      row: { kind: "run", id: input.runId, value: { at: this.#clock.now() } },
    };
    const threadClaim = {
      partition: threadKey(agent, "", input.threadId),
      row: ownerRow(principal),
    };
    const claimedAtOnce = await this.#store.claim(
      [
        { ...threadClaim, isLookup: true },
        { ...runClaim, isLookup: true },
        ...(lock === undefined ? [] : [lock.claim()]),
        ...(sessionClaim === undefined ? [] : [sessionClaim.claim]),
      ],
      key,
    );
    const { known } = claimedAtOnce;
    const [owned, used] = known;
    const lockKnown = lock === undefined ? undefined : known[2];
    if (lock !== undefined) lock.isHeld = lockKnown === undefined;
    sessionClaim?.settle(known[lock === undefined ? 2 : 3]);
    const owner = (owned as { owner?: string } | undefined)?.owner ?? principal.id;
    let { rows } = claimedAtOnce;
    if (lock !== undefined && owner === principal.id && used === undefined) {
      rows = (await this.#locks?.acquire(lock, lockKnown, rows)) ?? rows;
      if (!lock.isHeld) findings.push(ACTIVE);
    }
    const isSuggestion = suggestions === "another thread";
    // A thread with an owner has a conversation of its own.
    const source = isSuggestion && owned === undefined ? await this.#sourceOf(request) : undefined;
    const state = source === undefined ? stateOf(rows) : suggestionState(source);
    const written = writtenKeys(input.state, state.shared, policy.request.state.allowsKey);
    let review: InputReview = {
      findings: [],
      rows: [],
      claims: [],
      approvals: [],
      surfaceRequests: [],
      keepsInterrupts: false,
    };
    if (owner !== principal.id) {
      findings.unshift(FOREIGN);
    } else {
      const compare = source === undefined ? reviewInput : reviewSuggestion;
      review = compare(input, state, policy, this.#clock.now(), written);
      const isLost = isSuggestion && source === undefined;
      findings.push(...(isLost ? withSuggestionRemedy(review.findings) : review.findings));
      const fresh = review.rows.filter(
        ({ kind, id }) => kind === "message" && !state.messages.has(id),
      );
      if (fresh.length > 0) assertRoom(state.messages.size + fresh.length);
    }
    if (used !== undefined) findings.push(USED);
    const isSound = findings.every(({ isReportOnly }) => isReportOnly === true);
    const claimed = isSound ? await this.#claim(key, review, findings) : [];
    const facts = {
      store: this.#store,
      key,
      open,
      input,
      state,
      findings,
      approvals: review.approvals,
      surfaceRequests: review.surfaceRequests,
      keepsInterrupts: review.keepsInterrupts,
      writtenKeys: written,
      isHistoryChecked:
        owner === principal.id &&
        (policy.request.mode("history") === "enforce" ||
          review.findings.every(({ check }) => check !== "history")),
      lock,
      release: (left: ThreadLock) => this.#locks?.release(left) ?? Promise.resolve(),
      agent,
      withheldOwner: principal.id === ANONYMOUS.id ? threadScope : `principal ${principal.id}`,
      registers: this.#registers,
      withheld: [...rows, ...(source ?? [])].filter(
        ({ kind }) => kind === "withheld" || kind === "denials",
      ),
      delivered:
        suggestions === "this thread"
          ? (id: string) => this.#delivered.add(scopeOf(request), input.threadId, id)
          : undefined,
      threadClaim: owned === undefined ? threadClaim : undefined,
      runClaim: used === undefined ? runClaim : undefined,
    };
    return new ThreadLease(facts, review.rows, claimed);
  }

  /** The rows of the one thread of this principal and agent whose messages a request repeats. Reads them, and writes nothing. */
  async #sourceOf(request: AdmissionRequest): Promise<StoredRow[] | undefined> {
    const { agent, threadScope, principal, input } = request;
    const ids = input.messages.flatMap(({ id, role }) => (isRepeatable(role) ? [id] : []));
    const threadId = this.#delivered.threadOf(scopeOf(request), ids);
    if (threadId === undefined) return undefined;
    const scope = principal.id === ANONYMOUS.id ? threadScope : "";
    const owner = { partition: threadKey(agent, "", threadId), row: ownerRow(principal) };
    const { known, rows } = await this.#store.claim(
      [{ ...owner, isLookup: true }],
      threadKey(agent, scope, threadId),
    );
    return known[0]?.["owner"] === principal.id ? rows : undefined;
  }

  /**
   * Claims the interrupts and calls that may be answered once; returns the keys that were free. Another gateway may
   * have accepted an answer since this one read the thread. The same answer may come again after a run that broke off.
   */
  async #claim(key: string, { claims }: InputReview, findings: Finding[]): Promise<RowName[]> {
    const free: RowName[] = [];
    if (claims.length === 0) return free;
    const { known } = await this.#store.claim(
      claims.map(({ row, isLookup }) => ({
        partition: key,
        row,
        ...(isLookup === undefined ? {} : { isLookup }),
      })),
    );
    claims.forEach(({ row, finding, isLookup }, index) => {
      const there = known[index];
      if (there === undefined) {
        if (isLookup !== true) free.push({ kind: row.kind, id: row.id });
      } else if (there["said"] !== row.value["said"]) findings.push(finding);
    });
    return free;
  }
}

/**
 * The owner of a thread: the first principal whose request is admitted. The agent knows threads by their ids alone, so
 * all anonymous clients count as one owner.
 */
function ownerRow({ id }: Principal): StoredRow {
  return { kind: "thread", id: "", value: { owner: id } };
}

/** The agent, principal and session that can find a thread by its messages. */
function scopeOf({ agent, principal, threadScope }: AdmissionRequest): readonly string[] {
  return [agent, principal.id, principal.id === ANONYMOUS.id ? threadScope : ""];
}

/** The partition of a thread's rows. The scope is the session where requests have no principal. */
export function threadKey(agent: string, scope: string, threadId: string): string {
  return JSON.stringify([agent, scope, threadId]);
}
