import { pageAddress } from "@countersign/core";
import { ROLES } from "../access/operators.js";
import { MAX_RECORDED } from "./policy-compare.js";
import { BODY_LIMITS } from "./request-body.js";

/** A JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type Schema = { readonly [keyword: string]: unknown };

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const milliseconds = { type: "number", description: "Milliseconds since the epoch" };
const flag = { type: "boolean" };
const hash = { type: "string", pattern: "^[0-9a-f]{64}$" };

/** A closed object; members whose name ends with `?` are optional. */
function object(members: Readonly<Record<string, Schema>>, description?: string): Schema {
  const names = Object.keys(members);
  return {
    type: "object",
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(
      names.map((name) => [name.replace(/\?$/u, ""), members[name] as Schema]),
    ),
    required: names.filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

const list = (items: Schema): Schema => ({ type: "array", items });
const short = (maxLength: number): Schema => ({ type: "string", minLength: 1, maxLength });
const upTo = (maximum: number): Schema => ({ type: "integer", minimum: 1, maximum });
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const cursor: Schema = { type: "string", description: "Give it back to get the next page" };

const partial: Schema = {
  const: true,
  description: "Other gateways could not be asked for: only what this one has",
};

const unowned = {
  ...flag,
  description:
    "true to allow a session without an owner, or with neither session nor principal every session",
};
const only = { ...text, description: "The only principal that it is valid for" };
const sessionOwner = {
  type: ["string", "null"],
  description: "The principal that owns the session; null if it has no owner",
};
const untold: Schema = {
  const: true,
  description: "Another gateway could not be told: the token counts for the session at this one",
};

const unheard: Schema = {
  const: true,
  description: "Another gateway did not respond and may have open runs of the session: try again",
};

const client = {
  "principal?": {
    ...text,
    description: "The principal of the newest run, or its keyed hash; absent for an anonymous one",
  },
  "client_address?": { ...text, description: "The address of its client, or its keyed hash" },
};

const run = {
  run_id: text,
  gateway: { ...text, description: "The gateway it is at" },
  thread_id: text,
  agent: text,
  ...client,
  transport: { enum: ["sse", "websocket"] },
  status: { enum: ["running", "finished", "failed", "stopped"] },
  "failure?": text,
  started_at: milliseconds,
  "ended_at?": milliseconds,
  forwarded: count,
  blocked: count,
};

const policyFacts = { "name?": text, hash, mode: { enum: ["observe", "enforce"] } };

const policyText = { ...short(BODY_LIMITS.policy), description: "The policy, as YAML or JSON" };
const change = {
  expect: { ...hash, description: "The hash of the policy that the change is based on" },
  "comment?": { ...short(BODY_LIMITS.comment), description: "Why; kept in the history" },
};

const effect = { enum: ["looser", "stricter", "both", "same"] };

/** Every request and response body of the control plane, by name. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  Problem: object(
    {
      type: { type: "string", pattern: "^urn:countersign:problem:" },
      title: text,
      status: { type: "integer" },
      code: text,
    },
    "A refusal, RFC 9457",
  ),
  LoginMethods: object({
    methods: list({ enum: ["token", "oidc"] }),
    "oidc?": object({ name: { ...text, description: "Name of the identity provider" } }),
  }),
  Login: object({ token: short(BODY_LIMITS.token) }),
  Me: object({
    operator: { ...text, description: "The name of the operator in receipts" },
    role: { enum: ROLES },
    method: { enum: ["token", "oidc", "mtls"] },
    "csrf?": {
      ...text,
      description: "Changes by a session repeat it in the header x-countersign-csrf",
    },
  }),
  Status: object({
    version: text,
    gateway: { ...text, description: "The name of this process among the gateways of its log" },
    gateways: {
      ...list(
        object({
          id: text,
          version: text,
          started_at: milliseconds,
          ready: flag,
          draining: flag,
          sessions: count,
          runs_open: count,
          // A gateway of an older version does not report them.
          "events_forwarded?": count,
          "events_blocked?": count,
        }),
      ),
      description: "The gateways of the log that are alive, this one first",
    },
    started_at: milliseconds,
    uptime_seconds: count,
    ready: flag,
    draining: flag,
    listeners: object({ data: text, control: text }),
    policy: object({ ...policyFacts, stale: flag }),
    log: object({
      key: { ...text, description: "The vkey that checkpoints are signed with" },
      "witnesses?": {
        ...object({
          threshold: count,
          "newest?": object({
            size: count,
            cosigned_at: milliseconds,
            names: list(text),
            enough: { ...flag, description: "As many as the threshold" },
          }),
          unwitnessed_ms: {
            ...count,
            description: "For how long the log has had entries that no witnessed checkpoint covers",
          },
          late: { ...flag, description: "That is longer than receipts.witnesses.max_age" },
          list: list(
            object({
              name: text,
              vkey: { ...text, description: "The key that its cosignatures are verified with" },
              "failing?": text,
              "size?": count,
              "cosigned_at?": milliseconds,
              "contradicts?": object({ size: count, proven: flag }),
            }),
          ),
        }),
        description: "The witnesses of the log; absent without witnesses",
      },
      "timestamps?": {
        ...object({
          "size?": count,
          "dated_at?": milliseconds,
          "authority?": text,
          "failing?": text,
        }),
        description: "The newest dated checkpoint; absent without a timestamp authority",
      },
    }),
    store: object({
      kind: { enum: ["sqlite", "postgres"] },
      "entries?": count,
      "first_entry?": {
        ...count,
        description: "The first entry that was not removed because of its age",
      },
      pending: count,
      "damage?": object({ "seq?": count, reason: text }),
    }),
    "evidence?": {
      ...object({
        events: { enum: ["blocked", "all"] },
        keep_ms: count,
        max_bytes: count,
        failing: { ...flag, description: "The last write failed" },
        kept: count,
        omitted: count,
        dropped: count,
        failed: count,
        "records?": count,
        "bytes?": count,
        "oldest?": milliseconds,
      }),
      description: "The evidence store; absent where it is off",
    },
    counts: object({
      sessions: count,
      runs_open: count,
      sockets_open: count,
      events_forwarded: count,
      events_blocked: count,
      refusals: count,
      receipts_appended: count,
    }),
  }),
  Run: object(run),
  Session: object({
    id: text,
    gateways: { ...list(text), description: "The gateways that have it" },
    created_at: milliseconds,
    last_seen: milliseconds,
    forwarded: count,
    blocked: count,
    capabilities: count,
    ...client,
    "owner?": sessionOwner,
    runs: list(ref("Run")),
  }),
  Evidence: object({ items: list(ref("EvidenceItem")), "cursor?": cursor }),
  EvidenceItem: object(
    {
      seq: { ...count, description: "The entry of the log" },
      "kept_at?": milliseconds,
      "payload?": { description: "The payload that was hashed" },
      "emitted?": { description: "What the client received instead" },
      "redacted?": {
        ...list(text),
        description:
          "Places that the policy removed; the copy then does not have the hash of the log",
      },
      "omitted?": {
        enum: ["policy", "size"],
        description: "Why there is no content: ag_ui_evidence.never, or evidence.max_payload_bytes",
      },
      "problem?": {
        ...object({ code: text, title: text }),
        description: "Why the copy cannot be read: it was changed, or its key is missing",
      },
    },
    "One kept payload",
  ),
  Sessions: object({ sessions: list(ref("Session")), "cursor?": cursor, "partial?": partial }),
  Runs: object({
    runs: list(object({ session_id: text, ...run })),
    "cursor?": cursor,
    "partial?": partial,
  }),
  Stopped: object({ run_id: text, status: text, gateway: text }),
  SessionStopped: object({
    session_id: text,
    stopped: list(object({ run_id: text, gateway: text })),
    "partial?": unheard,
  }),
  Issue: object({
    code: text,
    message: text,
    file: text,
    line: count,
    column: count,
    path: text,
    "key?": text,
    "suggestion?": text,
  }),
  Policy: object({
    ...policyFacts,
    stale: { ...flag, description: "The newest text does not load; the last good policy decides" },
    issues: list(ref("Issue")),
    reloads: object({ ok: count, failed: count }),
    files: list(text),
    "file?": { ...text, description: "The configured file; absent for the built-in policy" },
    text: { ...text, description: "The text of that file that decides now" },
    writable: { ...flag, description: "Whether the gateway can write the file" },
    lines: {
      type: "object",
      description: "The line of each rule in the text, where it has one",
      additionalProperties: count,
    },
    rules: { ...list(text), description: "In the order in which they are asked" },
    document: { type: "object", description: "The policy, with what it extends" },
  }),
  PolicyText: object({ text: policyText }),
  Checked: object({
    issues: list(ref("Issue")),
    "hash?": hash,
    "mode?": { enum: ["observe", "enforce"] },
    "rules?": list(text),
    "notes?": list({ type: "object", description: "Doubtful settings, with their positions" }),
  }),
  PolicyHistory: object({
    items: list(
      object({
        hash,
        applied_at: milliseconds,
        operator: text,
        source: { enum: ["console", "api", "cli", "file", "signal"] },
        "comment?": text,
        "text?": text,
      }),
    ),
  }),
  PolicyApply: object({ text: policyText, ...change }),
  PolicyRollback: object({ hash, ...change }),
  PolicyModeChange: object({
    block: {
      ...short(BODY_LIMITS.name),
      description: "A block of the policy file, or policy for all",
    },
    mode: { enum: ["observe", "enforce"] },
    ...change,
  }),
  PolicyChanged: object({
    hash,
    changed: flag,
    file: { ...text, description: "The file that was written" },
    gateway: { ...text, description: "The gateway that has the policy" },
    others: {
      ...list(text),
      description:
        "Other gateways of the log: they follow their own files and may have another policy",
    },
  }),
  Meaning: object({
    name: text,
    kind: { enum: ["rule", "code"] },
    "means?": text,
    "status?": { type: "integer" },
    "title?": text,
    remedy: text,
  }),
  NameMeaning: object({
    name: text,
    kind: text,
    means: text,
    "remedy?": text,
    openings: list(
      object({
        "about?": { ...text, description: "The kind of event, if the name has several" },
        opening: {
          description: "Lines to add, or the reason why there are none",
          oneOf: [
            object({ policy: { ...text, description: "Lines under rules" } }),
            object({ config: { ...text, description: "Lines of countersign.yaml" } }),
            object({ closed: text }),
            object({ passes: text }),
          ],
        },
      }),
    ),
  }),
  EntryMeaning: object({ rules: list(ref("NameMeaning")), "named?": ref("NameMeaning") }),
  Reloaded: object({ changed: flag, hash }),
  NotReloaded: object({ changed: { const: false }, hash, issues: list(ref("Issue")) }),
  Candidate: object({
    text: policyText,
    "recorded?": {
      ...upTo(MAX_RECORDED),
      description: "Judge so many of the newest receipts again; none when left out",
    },
  }),
  Comparison: object({
    verdict: effect,
    before: object(policyFacts),
    after: object(policyFacts),
    blocks: list(
      object({
        block: text,
        verdict: effect,
        changes: list(
          object({
            setting: text,
            kind: { enum: ["added", "removed", "widened", "narrowed", "changed"] },
            effect,
            says: text,
          }),
        ),
      }),
    ),
    "recorded?": object({ judged: count, newly_blocked: count, newly_allowed: count }),
  }),
  NotCompared: object({ issues: list(ref("Issue")) }),
  Receipts: object({
    entries: list({
      type: "object",
      description: `A log entry; ${pageAddress("receipts/format.md")} describes its format`,
      required: ["seq", "receipt", "direction", "policy_hash", "mode", "received_at"],
    }),
    "cursor?": cursor,
  }),
  Counts: object({
    counts: list(
      object({
        count,
        "from?": { ...milliseconds, description: "The start of the time bucket" },
        values: {
          type: "object",
          description: "The value of each column; null for entries that have none",
          additionalProperties: { type: ["string", "boolean", "null"] },
        },
      }),
    ),
  }),
  Grant: object(
    {
      agent: short(BODY_LIMITS.name),
      "session_id?": {
        ...short(BODY_LIMITS.name),
        description: "Only this session; every session when left out",
      },
      "principal?": {
        ...short(BODY_LIMITS.principal),
        description:
          "Only this principal (jwt:ISSUER SUBJECT or key:NAME); the owner of the session when left out",
      },
      "allow_unowned_session?": unowned,
      scopes: {
        ...list({
          ...short(BODY_LIMITS.scope),
          description: "ui:<class>:<component>[:<id>]",
        }),
        maxItems: BODY_LIMITS.scopes,
      },
      "expires_in?": { ...upTo(BODY_LIMITS.seconds), description: "Seconds; 600 when left out" },
      "max_events?": upTo(BODY_LIMITS.events),
      "attach?": { ...flag, description: "false to hand the token over yourself" },
    },
    "A capability to issue",
  ),
  Issued: object({
    token: text,
    id: text,
    expires_at: { type: "number" },
    "principal?": only,
    "session_owner?": sessionOwner,
    "partial?": untold,
  }),
  Capabilities: object({
    items: list(
      object({
        id: text,
        agent: text,
        "session?": text,
        "principal?": only,
        scopes: list(text),
        "max_events?": count,
        "remaining?": { ...count, description: "Events that no gateway has used or reserved" },
        expires_at: { type: "number", description: "Seconds since the epoch" },
        issued_at: { type: "number", description: "Seconds since the epoch" },
        operator: text,
        revoked: flag,
      }),
    ),
    "cursor?": cursor,
  }),
  Agents: object({
    items: list(
      object({
        name: text,
        url: { ...text, description: "Its address without credentials; only the host for viewers" },
        health: { enum: ["ok", "failing", "unknown"] },
        open_runs: count,
        "last_success_at?": milliseconds,
        recent_failures: list(object({ at: milliseconds, code: text, reason: text })),
        "contained?": object(
          { operator: text, at: milliseconds },
          "An operator stopped it; it gets no new runs",
        ),
      }),
    ),
    "partial?": partial,
  }),
  AgentResumed: object({ agent: text, contained: { const: false } }),
  StopAll: object({
    agents: list(text),
    runs: list(object({ session_id: text, ...run })),
    "partial?": partial,
  }),
  StopAllRequest: object({
    "agent?": short(BODY_LIMITS.name),
    "expect_runs?": {
      ...count,
      description: "Refuse when another number of runs is open; leave it out in an emergency",
    },
  }),
  StoppedAll: object({
    agents: list(text),
    stopped: list(object({ session_id: text, run_id: text, gateway: text })),
    "partial?": {
      const: true,
      description:
        "A gateway did not respond, or the containment could not be stored and ends with a restart: try again",
    },
    "unrecorded?": { const: true, description: "The log did not accept every receipt" },
  }),
  Revoke: object({ id: short(BODY_LIMITS.id) }),
  Revoked: object({ revoked: text }),
  Presented: object({
    token: short(BODY_LIMITS.token),
    "allow_unowned_session?": unowned,
  }),
  Accepted: object({
    accepted: { const: true },
    id: { type: ["string", "null"] },
    "principal?": only,
    session_owner: sessionOwner,
    "partial?": untold,
  }),
};
