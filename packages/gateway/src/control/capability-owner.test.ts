import assert from "node:assert/strict";
import { createCapabilityVerifier, createRevocationList, keyName } from "@countersign/capability";
import { createCapabilityIssuer, narrowCapability } from "@countersign/capability/issue";
import { isCountersignError } from "@countersign/core";
import { generateKey } from "@countersign/core/sign";
import * as fc from "fast-check";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { ANONYMOUS } from "../access/access.js";
import { SessionOwners } from "../sessions/session-owners.js";
import { createMemoryStore } from "../store/memory-store.js";
import { RunCapabilities } from "../runs/run-capabilities.js";
import type { OpenTokens } from "./ports.js";
import { Sessions } from "../sessions/sessions.js";
import { CapabilityRecords } from "../access/capability-records.js";
import { createTicketSeal } from "../access/ticket-seal.js";
import type { ControlEnv } from "./control-env.js";
import { addCapabilityRoutes } from "./capability-routes.js";

const PRINCIPALS = ["key:alice", "jwt:https://login.example.org bob ", ANONYMOUS.id] as const;
const SESSIONS = ["s1", "s2"] as const;
const AGENTS = ["support", "sales"] as const;
const KEEP_MS = 1000;

/** A delivered token and the most that it may be used for. */
type DeliveredState = {
  readonly token: string;
  readonly agent: string;
  readonly session: string | undefined;
  readonly principal: string | undefined;
};

/** A token handed to a session, with the principal that it may serve, as known at that moment. */
type Handed = { readonly token: string; readonly session: string; readonly only?: string };

/** The parts of a gateway, wired without a network; a restart keeps only the ledger. */
function createWorld() {
  let now = 1_000_000;
  const clock = { now: () => now, monotonic: () => now } as never;
  const ledger = createMemoryStore(clock);
  const key = generateKey();
  const holder = generateKey();
  const issuer = createCapabilityIssuer({ key });
  const verifier = createCapabilityVerifier({
    issuers: [keyName(key.publicKey)],
    revocations: createRevocationList(),
    clock,
  });
  const acts = { operator: "o", record: async () => "r", note: async () => "r" } as never;
  const start = (sessions = new Sessions(clock)) => {
    const owners = new SessionOwners({ clock, store: ledger });
    const app = new Hono<ControlEnv>();
    app.onError((error, context) => context.text(error.message, 409));
    const tokens = {
      issue: (grant) => issuer.issue(grant),
      records: new CapabilityRecords(
        createMemoryStore(clock),
        createTicketSeal(undefined, 400_000),
        clock,
      ),
    } as Partial<OpenTokens> as OpenTokens;
    addCapabilityRoutes(app, tokens, {
      sessions,
      fleet: undefined,
      agents: { names: AGENTS },
      clock,
      actsOf: () => acts,
      ownerOf: (session) => owners.ownerOf(session),
      shown: (_context, principal) => principal,
    });
    return { sessions, owners, app };
  };
  return {
    start,
    issuer,
    holder,
    ledger,
    seconds: () => Math.floor(now / 1000),
    pass: (ms: number) => void (now += ms),
    verifier: { ...verifier, evaluate: verifier.evaluate as never, spend: () => {} },
  };
}

const principal = fc.constantFrom(...PRINCIPALS);
const session = fc.constantFrom(...SESSIONS);
const agent = fc.constantFrom(...AGENTS);
const named = fc.option(fc.constantFrom(PRINCIPALS[0], PRINCIPALS[1]), { nil: undefined });
const step = fc.oneof(
  fc.record({ act: fc.constant("take" as const), session, principal }),
  fc.record({ act: fc.constant("pass-on" as const) }),
  fc.record({ act: fc.constant("restart" as const) }),
  fc.record({
    act: fc.constant("issue" as const),
    session: fc.option(session, { nil: undefined }),
    agent,
    principal: named,
    words: fc.boolean(),
    attach: fc.boolean(),
  }),
  fc.record({
    act: fc.constant("narrow" as const),
    session: fc.option(session, { nil: undefined }),
    agent,
    principal: named,
    later: named,
  }),
  fc.record({
    act: fc.constant("attach" as const),
    which: fc.nat(20),
    session,
    words: fc.boolean(),
  }),
);

test("a capability opens nothing for another principal, and for a session without an owner it is issued only on explicit request", async () => {
  const property = fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25, size: "max" }),
      async (steps) => {
        const world = createWorld();
        let gateway = world.start();
        const known: DeliveredState[] = [];
        let handed: Handed[] = [];
        const owners = new Map<string, string>();
        const post = (path: string, body: object): Promise<Response> =>
          Promise.resolve(
            gateway.app.request(path, { method: "POST", body: JSON.stringify(body) }),
          );

        for (const one of steps) {
          switch (one.act) {
            case "take": {
              const owner = owners.get(one.session);
              const isFree = owner === undefined || owner === one.principal;
              const taking = gateway.owners.claim(one.session, { id: one.principal });
              if (isFree) await taking;
              else await assert.rejects(taking, isCode("ERR_ACCESS_SESSION"));
              if (owner === undefined && one.principal !== ANONYMOUS.id)
                owners.set(one.session, one.principal);
              break;
            }
            case "pass-on":
              // The sessions were idle until their owners were forgotten; the tokens handed to them are still there.
              world.pass(KEEP_MS);
              await world.ledger.forget(Number.MAX_SAFE_INTEGER);
              owners.clear();
              gateway = world.start(gateway.sessions);
              break;
            case "restart":
              gateway = world.start();
              handed = [];
              break;
            case "issue": {
              const owner = one.session === undefined ? undefined : owners.get(one.session);
              const isForeign =
                owner !== undefined && one.principal !== undefined && owner !== one.principal;
              const isOpen = one.session === undefined ? one.principal === undefined : !owner;
              const answer = await post("/v1/capabilities", {
                agent: one.agent,
                scopes: ["ui:*:*"],
                attach: one.attach,
                ...(one.session === undefined ? {} : { session_id: one.session }),
                ...(one.principal === undefined ? {} : { principal: one.principal }),
                ...(one.words ? { allow_unowned_session: true } : {}),
              });
              assert.equal(answer.status, isForeign || (isOpen && !one.words) ? 409 : 201);
              if (answer.status !== 201) break;
              const body = (await answer.json()) as Record<string, string | undefined>;
              const only = one.principal ?? owner;
              assert.equal(body["principal"], only);
              if (one.session !== undefined) assert.equal(body["session_owner"], owner ?? null);
              const token = body["token"] ?? "";
              known.push({ token, agent: one.agent, session: one.session, principal: only });
              if (one.attach && one.session !== undefined)
                handed.push({
                  token,
                  session: one.session,
                  ...(only === undefined ? {} : { only }),
                });
              break;
            }
            case "narrow": {
              const issued = await world.issuer.issue({
                agent: one.agent,
                scopes: ["ui:*:*"],
                notBefore: 0,
                expiresAt: world.seconds() + 10_000,
                holder: world.holder.publicKey,
                ...(one.principal === undefined ? {} : { principal: one.principal }),
                ...(one.session === undefined ? {} : { sessionId: one.session }),
              });
              const narrowing = one.later === undefined ? {} : { principal: one.later };
              const narrowed = narrowCapability(issued.token, world.holder, narrowing);
              if (one.principal !== undefined && (one.later ?? one.principal) !== one.principal) {
                await assert.rejects(narrowed, isCode("ERR_CAPABILITY_WIDENS"));
                break;
              }
              const { token } = await narrowed;
              const only = one.later ?? one.principal;
              known.push({ token, agent: one.agent, session: one.session, principal: only });
              break;
            }
            case "attach": {
              const given = known[one.which % Math.max(known.length, 1)];
              if (given === undefined) break;
              const owner = owners.get(one.session);
              const isForeign =
                owner !== undefined && given.principal !== undefined && owner !== given.principal;
              const answer = await post(`/v1/sessions/${one.session}/capabilities`, {
                token: given.token,
                ...(one.words ? { allow_unowned_session: true } : {}),
              });
              const isRefused = isForeign || (owner === undefined && !one.words);
              assert.equal(answer.status, isRefused ? 409 : 202);
              if (isRefused) break;
              const only = given.principal ?? owner;
              handed.push({
                token: given.token,
                session: one.session,
                ...(only === undefined ? {} : { only }),
              });
            }
          }
          expectOnlyTheirs(gateway.sessions, world.verifier, known, handed);
        }
      },
    ),
    { numRuns: 150 },
  );
  await expect(property).resolves.toBeUndefined();
}, 60_000);

const isCode =
  (code: string) =>
  (error: unknown): boolean =>
    isCountersignError(error) && error.code === code;

/** Checks every principal, behind every agent, in every session, with every token. */
function expectOnlyTheirs(
  sessions: Sessions,
  verifier: ConstructorParameters<typeof RunCapabilities>[2],
  known: readonly DeliveredState[],
  handed: readonly Handed[],
): void {
  for (const who of PRINCIPALS) {
    for (const place of SESSIONS) {
      for (const behind of AGENTS) {
        const run = new RunCapabilities(
          sessions.open(place),
          { agent: behind, principal: { id: who } },
          verifier,
        );
        const mayUse = ({
          principal: only,
          session: where,
          agent: whose,
        }: DeliveredState): boolean =>
          whose === behind &&
          (where === undefined || where === place) &&
          (only === undefined || (only === who && who !== ANONYMOUS.id));
        for (const one of known) {
          assert.equal(run.presented(one.token).status === "valid", mayUse(one));
        }
        const opened = run.session().filter(({ status }) => status === "valid").length;
        const allowed = new Set(
          handed
            .filter(({ session: where, only, token }) => {
              const one = known.find((given) => given.token === token);
              const isTheirs = only === undefined || only === who;
              return where === place && isTheirs && one !== undefined && mayUse(one);
            })
            .map(({ token, only }) => JSON.stringify([token, only])),
        );
        assert.ok(opened <= allowed.size);
        // A session keeps the last 16 tokens handed to it; with no more than that, none is lost either.
        if (handed.length <= 16) assert.equal(opened, allowed.size);
      }
    }
  }
}
