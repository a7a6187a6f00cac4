import type { OpenTokens } from "../control/ports.js";
import { existsSync } from "node:fs";
import {
  allowanceId,
  createCapabilityVerifier,
  createRevocationList,
} from "@countersign/capability";
import type { CapabilityVerifier, RevocationList } from "@countersign/capability";
import { exportPrivateKeyPem } from "@countersign/core/sign";
import { CapabilityRecords } from "../access/capability-records.js";
import { createTicketSeal, deriveSealKey } from "../access/ticket-seal.js";
import { createCapabilityIssuer } from "@countersign/capability/issue";
import { BUDGETS, TokenBudgets } from "../quota/token-budgets.js";
import {
  followRevocations,
  openSharedRevocations,
  REVOCATIONS_SIGNAL,
} from "../access/shared-revocations.js";
import { IssuedTokens } from "../access/capabilities.js";
import { appendRevocation, readRevocationFile } from "../access/revocation-file.js";
import type { SharedRevocations } from "../access/shared-revocations.js";
import type { GatewayConfig } from "../config/config.js";
import type { Following } from "../store/follow.js";
import type { KeyedStore } from "../store/keyed-store.js";
import type { Signals } from "../store/signals.js";
import { readRetiredIssuers } from "../keys/issuer-rotation.js";
import { openKey } from "../keys/key-directory.js";
import type { Clock, Journal } from "../base/ports.js";
import { openCounts } from "./open-counts.js";
import type { TokenVerifier } from "../access/capabilities.js";
import { statesOf } from "../base/files.js";
import type { FileStates } from "../base/files.js";

/** Opens the issuer key, the list of trusted issuers and the list of revoked tokens. */
export async function openTokens(
  config: GatewayConfig,
  clock: Clock,
  journal: Journal,
  ledger: KeyedStore,
  gateway: string,
  signals?: Signals,
): Promise<OpenTokens> {
  const key = await openKey(config.keyDirectory, "issuer");
  const issuer = createCapabilityIssuer({ key });
  const { revocationFile } = config;
  const fileStates = (): FileStates =>
    statesOf(revocationFile === undefined ? [] : [revocationFile]);
  let seen = fileStates();
  const known =
    revocationFile !== undefined && existsSync(revocationFile)
      ? readRevocationFile(revocationFile)
      : [];
  const revocations = createRevocationList(known);
  const issued = new IssuedTokens();
  const shared = await openShared(config, { revocations, issued, journal, clock, signals });
  const store = await openCounts(BUDGETS, config, { gateway, ledger, clock }).catch(
    async (error: unknown) => {
      await shared?.followed.stop();
      await shared?.store.close();
      throw error;
    },
  );
  const listener = (isSilent: boolean): void => {
    if (isSilent) {
      journal.error(
        { code: "BUDGETS_KEPT" },
        "the store of capability budgets does not respond; only events that are already reserved can be used",
      );
    } else journal.info({}, "the store of capability budgets responds again");
  };
  const spending = new TokenBudgets({ store, gateway, listener });
  const verifier = createCapabilityVerifier({
    issuers: [issuer.issuer, ...readRetiredIssuers(config.keyDirectory), ...config.issuers],
    revocations,
    clock,
    spending,
    chio: { agentKeys: config.chioKeys },
  });
  let isStale = false;
  return {
    issuer: issuer.issuer,
    get revocations() {
      return {
        count: revocations.list().length,
        isStale: isStale || shared?.followed.isStale === true,
      };
    },
    reread: () => {
      if (revocationFile === undefined) return undefined;
      seen = fileStates();
      try {
        // Revocations are only added: removing a line does not make a token valid again.
        for (const revocation of readRevocationFile(revocationFile)) revocations.revoke(revocation);
        isStale = false;
        return undefined;
      } catch (error) {
        isStale = true;
        return (error as Error).message;
      }
    },
    seen: () => seen,
    verifier: {
      evaluate: (token, context) => {
        const facts = verifier.evaluate(token, context);
        // In Node the result is synchronous; a promise could only come from another runtime.
        return facts instanceof Promise
          ? { id: "<undecided>", status: "rejected", scopes: [] }
          : facts;
      },
      spend: (facts) => verifier.spend(facts),
      ...reservationsOf(verifier, spending),
    },
    records: new CapabilityRecords(
      ledger,
      createTicketSeal(deriveSealKey(exportPrivateKeyPem(key), "handed"), MAX_SEALED),
      clock,
    ),
    isRevoked: (id) => revocations.isRevoked(id),
    remaining: async (records) => {
      const limited = records.filter(({ max_events: most }) => most !== undefined);
      const results = await store.exchange(
        limited.map(({ id, issuer: by, max_events: most = 0, expires_at: expiresAt }) => ({
          key: allowanceId(by, id),
          limit: {
            kind: "total",
            capacity: most,
            windowMs: Number.POSITIVE_INFINITY,
            expiresAt,
          },
          // Asks for nothing: the result tells what was granted before.
          settled: [],
          wanted: 0,
          lease: "",
        })),
      );
      return new Map(
        limited.map(({ id, max_events: most = 0 }, at) => [
          id,
          Math.max(0, most - (results[at]?.used ?? most)),
        ]),
      );
    },
    issue: async (grant) => {
      const token = await issuer.issue(grant);
      // An id that the operator chose may have been used before.
      if (grant.id === undefined) issued.add(token.claims.jti, token.claims.exp);
      return token;
    },
    revoke: async (id) => {
      const revocation = { capability_id: id, revoked_at: Math.floor(clock.now() / 1000) };
      // Effective here at once, even if it cannot be stored: the operator wants the token dead.
      revocations.revoke(revocation);
      const kept = await Promise.allSettled([
        shared?.store
          .revoke([revocation])
          // After the row: a gateway that reads before it would find nothing.
          .then(() => signals?.signal(REVOCATIONS_SIGNAL, "")),
        revocationFile === undefined ? undefined : appendRevocation(revocationFile, revocation),
      ]);
      for (const result of kept) if (result.status === "rejected") throw result.reason;
    },
    close: async () => {
      await spending.close();
      clearInterval(shared?.timer);
      await shared?.followed.stop();
      await shared?.store.close();
    },
  };
}

/** The longest sealed token: the longest token a session accepts, in base64, with its envelope. */
const MAX_SEALED = 400_000;

/** How long the start of a run waits for events that another gateway may be giving back. */
const PATIENCE_MS = 1000;

/** Statuses of a token that could authorise an event here if it had any left. */
const USABLE: ReadonlySet<string> = new Set(["valid", "exhausted", "rejected"]);

/** Reserves events of tokens, by their evaluated facts. */
function reservationsOf(
  verifier: CapabilityVerifier,
  spending: TokenBudgets,
): Required<Pick<TokenVerifier, "reserve" | "settle">> {
  return {
    reserve: (token, context, events, isPatient = false) => {
      const known = verifier.allowances(token);
      if (known !== undefined && spending.isAtHand(known, events)) return undefined;
      // A client must not reserve events of a token that is not its own or is no longer valid.
      const facts = verifier.evaluate(token, context);
      if (facts instanceof Promise || !USABLE.has(facts.status)) return undefined;
      const allowances = verifier.allowances(token) ?? [];
      return spending.reserve(allowances, events, isPatient ? PATIENCE_MS : 0);
    },
    settle: (tokens) => {
      const ids = [...tokens].flatMap((token) => verifier.allowances(token) ?? []);
      spending.settle(ids.map(({ id }) => id));
    },
  };
}

type Shared = {
  readonly store: SharedRevocations;
  readonly followed: Following;
  readonly timer: NodeJS.Timeout;
};

/** The known tokens when revocations are opened. */
type TokenFacts = {
  readonly revocations: RevocationList;
  readonly issued: IssuedTokens;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly signals: Signals | undefined;
};

const HOUR_MS = 3_600_000;
/** How long a revocation outlives its token, in seconds: a clock that was ahead may be corrected. */
const KEEP_SECONDS = 86_400;

/** Opens the shared revocations; all earlier ones are known when this resolves. */
async function openShared(
  { receipts }: GatewayConfig,
  { revocations: list, issued, journal, clock, signals }: TokenFacts,
): Promise<Shared | undefined> {
  if (receipts.store.startsWith("sqlite:")) return undefined;
  const store = await openSharedRevocations({ url: receipts.store, name: receipts.origin });
  try {
    // `capability revoke` writes without a signal, and its revocations apply within a second too.
    const wake = signals && { signals, name: REVOCATIONS_SIGNAL, everyMs: 1000 };
    const listener: Parameters<typeof followRevocations>[1] = {
      onRevoked: (revocation) => {
        list.revoke(revocation);
        const { capability_id: id } = revocation;
        const end = issued.endOf(id);
        // If this fails, the row stays, like every row with an unknown expiry.
        if (end !== undefined) void store.expire(id, end).catch(() => undefined);
      },
      onStale: (isStale) => {
        if (isStale) {
          journal.error(
            { code: "REVOCATIONS_KEPT" },
            "the database of revocations does not respond; known revocations stay in effect",
          );
        } else
          journal.info(
            { revoked: list.list().length },
            "the database of revocations responds again",
          );
      },
    };
    const followed = await followRevocations(store, listener, { wake });
    const forget = (): void => {
      const before = Math.floor(clock.now() / 1000) - KEEP_SECONDS;
      void store.forget(before).catch(() => undefined);
    };
    forget();
    const timer = setInterval(forget, HOUR_MS);
    timer.unref();
    return { store, followed, timer };
  } catch (error) {
    await store.close();
    throw error;
  }
}
