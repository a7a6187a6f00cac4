import { ENTRY_COLUMNS } from "@countersign/receipts/log";
import type { Role } from "../access/operators.js";
import { VERSION } from "../base/version.js";
import { SCHEMAS } from "./openapi-schemas.js";
import type { Schema } from "./openapi-schemas.js";

type ResponseSpec = {
  readonly description: string;
  readonly schema?: string;
  readonly type?: string;
};
/** The least role of a route; `none` needs no credential. */
type NeededRole = Role | "none";
type Route = {
  readonly summary: string;
  /** `viewer` when left out. */
  readonly role?: NeededRole;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly responses: Readonly<Record<number, ResponseSpec>>;
};

const JSON_TYPE = "application/json";
const HTML = "text/html";
const json = (schema: string, description: string): ResponseSpec => ({ description, schema });
const plain = (description: string, type = "text/plain"): ResponseSpec => ({ description, type });
const refused = (description: string): ResponseSpec => ({
  description,
  schema: "Problem",
  type: "application/problem+json",
});

const PAGE = { limit: "Items on a page", cursor: "From the page before" };
const FILTER = {
  since: "Milliseconds since the epoch",
  until: "Milliseconds since the epoch",
  id: "Id of a receipt",
  would_block: "true: only events that were allowed although a rule would block them",
  q: "Text that a column or the receipt id contains; upper and lower case ASCII letters are equal",
  ...Object.fromEntries(ENTRY_COLUMNS.map((column) => [column, "Exactly this value"])),
};
const BAD = refused("A parameter or field is wrong");

const CHANGE = {
  200: json("PolicyChanged", "It decides from now on, at this gateway"),
  400: BAD,
  409: refused(
    "The policy changed since (ERR_CONTROL_POLICY_CHANGED), its file cannot be written (ERR_CONTROL_POLICY_READ_ONLY), or the history has no such text (ERR_CONTROL_POLICY_UNKNOWN)",
  ),
  422: json("NotReloaded", "The text does not load; nothing changed"),
};

/** Every route of the control plane, by method and path. */
const ROUTES: Readonly<Record<string, Route>> = {
  "get /v1/login": {
    role: "none",
    summary: "The ways to log in",
    responses: { 200: json("LoginMethods", "The ways to log in") },
  },
  "post /v1/login": {
    role: "none",
    summary: "Exchange a token for the session cookie of a browser",
    body: "Login",
    responses: { 200: json("Me", "The cookie is set"), 400: BAD, 413: refused("Too large") },
  },
  "get /v1/login/oidc": {
    role: "none",
    summary: "Begin a login at the identity provider, for browsers",
    responses: {
      302: { description: "To the identity provider" },
      404: refused("No identity provider is configured"),
      503: plain("A page: the provider does not respond", HTML),
    },
  },
  "get /v1/login/oidc/callback": {
    role: "none",
    summary: "End a login at the identity provider, for browsers",
    responses: {
      303: { description: "To the console, with the session cookie" },
      400: plain("A page: the login is over or began in another browser", HTML),
      403: plain("A page: the user has no role, or the login was refused", HTML),
      404: refused("No identity provider is configured"),
      503: plain("A page: the provider does not respond", HTML),
    },
  },
  "post /v1/logout": {
    summary: "End the session of this browser",
    responses: { 204: { description: "The session is over" } },
  },
  "get /v1/me": {
    summary: "The operator of this request, and the role",
    responses: { 200: json("Me", "The operator") },
  },
  "get /v1/status": {
    summary: "Version, readiness, policy, store and counts on one page",
    responses: { 200: json("Status", "The status of the gateway") },
  },
  "get /v1/openapi.json": {
    summary: "This description",
    responses: { 200: { description: "OpenAPI 3.1", type: JSON_TYPE } },
  },
  "get /metrics": {
    summary: "Figures for Prometheus; needs no credential where metrics.public is set",
    responses: { 200: plain("Text format 0.0.4") },
  },
  "get /v1/sessions": {
    summary: "Sessions of all gateways of the log, the one used last first",
    query: PAGE,
    responses: { 200: json("Sessions", "A page of sessions"), 400: BAD },
  },
  "get /v1/sessions/{id}": {
    summary: "One session with its runs",
    path: { id: "The session's id" },
    responses: { 200: json("Session", "The session"), 404: refused("No such session") },
  },
  "get /v1/runs": {
    summary: "Runs of all sessions, at whichever gateway",
    query: { ...PAGE, status: "running, finished, failed or stopped" },
    responses: { 200: json("Runs", "A page of runs"), 400: BAD },
  },
  "post /v1/sessions/{id}/runs/{run}/stop": {
    role: "operator",
    summary: "End a run at any gateway; its client gets a RUN_ERROR",
    path: { id: "The session's id", run: "The run's id" },
    responses: {
      202: json("Stopped", "It is being stopped"),
      404: refused("No such run"),
      409: refused("It has ended already"),
    },
  },
  "post /v1/sessions/{id}/stop": {
    role: "operator",
    summary: "End all open runs of a session, at whichever gateways they are",
    path: { id: "The session's id" },
    responses: {
      202: json("SessionStopped", "They are being stopped"),
      404: refused("No such session"),
    },
  },
  "post /v1/sessions/{id}/capabilities": {
    role: "operator",
    summary:
      "Hand a token to a session, at every gateway that is alive; whether it counts is asked anew for each event",
    path: { id: "The session's id" },
    body: "Presented",
    responses: {
      202: json("Accepted", "Kept for the session"),
      400: BAD,
      409: refused("The session has no owner, or another one"),
      413: refused("Too large"),
    },
  },
  "get /v1/capabilities": {
    summary: "Capabilities that operators issued, the newest first, until a day after they expire",
    query: PAGE,
    responses: { 200: json("Capabilities", "A page of capabilities"), 400: BAD },
  },
  "post /v1/capabilities": {
    role: "operator",
    summary: "Issue a capability token",
    body: "Grant",
    responses: {
      201: json("Issued", "The token; it is not kept"),
      400: BAD,
      409: refused("The session has no owner, or another one"),
      413: refused("Too large"),
    },
  },
  "post /v1/capabilities/revoke": {
    role: "operator",
    summary: "Revoke a token, effective for the next event of every open stream",
    body: "Revoke",
    responses: {
      200: json("Revoked", "Revoked, and kept"),
      400: BAD,
      413: refused("Too large"),
    },
  },
  "get /v1/agents": {
    summary: "The agents with their health, open runs and recent failures",
    responses: { 200: json("Agents", "The agents") },
  },
  "post /v1/agents/{name}/resume": {
    role: "operator",
    summary: "Let a stopped agent have runs again; refused without a receipt",
    path: { name: "The agent's name" },
    responses: {
      200: json("AgentResumed", "It gets runs again"),
      409: refused("It is not stopped"),
    },
  },
  "get /v1/stop-all": {
    summary: "The runs that a stop of an agent, or of all agents, would end",
    query: { agent: "The agent; all agents when left out" },
    responses: { 200: json("StopAll", "The open runs"), 400: BAD },
  },
  "post /v1/stop-all": {
    role: "operator",
    summary:
      "End all runs of an agent, or of all agents, and refuse new ones until the agent is resumed",
    body: "StopAllRequest",
    responses: {
      202: json("StoppedAll", "They are being stopped"),
      400: BAD,
      409: refused("Other runs are open than expected (ERR_CONTROL_STOP_CHANGED)"),
    },
  },
  "get /v1/events": {
    summary:
      "Every decision as it is recorded, about an agent's events and about requests of browsers; never a payload",
    responses: { 200: plain("Server-sent events", "text/event-stream") },
  },
  "get /v1/receipts": {
    summary: "Log entries that match",
    query: {
      ...PAGE,
      order: "newest or oldest first",
      ...FILTER,
    },
    responses: { 200: json("Receipts", "A page of entries"), 400: BAD },
  },
  "get /v1/receipts/counts": {
    summary: "How many log entries match, by the values of columns",
    query: {
      by: "Columns to count apart, comma-separated",
      bucket:
        "Width of a time bucket in milliseconds, at least 1000; counts are then apart by time too",
      ...FILTER,
    },
    responses: { 200: json("Counts", "The counts"), 400: BAD },
  },
  "get /v1/receipts/export": {
    summary: "Entries as they were hashed, one per line, to keep a copy",
    query: { start: "First entry", limit: "How many, at most 4096" },
    responses: {
      200: plain("Entries; the header countersign-next says where to go on", "application/jsonl"),
      400: BAD,
      410: refused("Removed because of its age"),
    },
  },
  "get /v1/receipts/{seq}/proof": {
    summary: "Proof that an entry is in the log",
    path: { seq: "Its place in the log" },
    responses: { 200: plain("C2SP tlog-proof"), 400: BAD, 404: refused("No such entry") },
  },
  "get /v1/receipts/{which}/evidence": {
    role: "operator",
    summary: "The kept payload of an entry; each read is a receipt",
    path: { which: "Its place in the log, or the id of its receipt" },
    responses: {
      200: json("EvidenceItem", "The payload, whose hash was compared with the log"),
      404: refused(
        "Evidence is off (EVIDENCE_OFF), or this payload is not kept (EVIDENCE_NOT_KEPT)",
      ),
      500: refused("The copy was changed (ERR_EVIDENCE_DAMAGED), or its key is missing"),
    },
  },
  "get /v1/runs/{session}/{run}/evidence": {
    role: "operator",
    summary: "The kept payloads of a run, oldest first; each read is a receipt",
    path: { session: "The session's id", run: "The run's id" },
    query: { limit: "Entries of the log on a page, 200 when left out", cursor: PAGE.cursor },
    responses: {
      200: json("Evidence", "A page of payloads; entries without one are left out"),
      400: BAD,
      404: refused("Evidence is off (EVIDENCE_OFF)"),
    },
  },
  "get /v1/receipts/{seq}/explanation": {
    summary: "The rules of an entry, and the lines of the policy that would allow its event",
    path: { seq: "Its place in the log" },
    responses: {
      200: json("EntryMeaning", "The rules of the entry"),
      400: BAD,
      404: refused("No such entry"),
      410: refused("Removed because of its age"),
    },
  },
  "get /v1/checkpoint": {
    summary: "A checkpoint of everything acknowledged, signed now",
    responses: { 200: plain("C2SP checkpoint") },
  },
  "get /v1/checkpoint/witnessed": {
    summary: "The newest checkpoint that witnesses cosigned, with their signature lines",
    responses: { 200: plain("C2SP checkpoint"), 404: refused("No witness cosigned one yet") },
  },
  "get /v1/tile/{tile}": {
    summary: "A tile or entry bundle of the log",
    path: { tile: "Path of the tile, C2SP tlog-tiles" },
    responses: {
      200: plain("The tile", "application/octet-stream"),
      400: BAD,
      404: refused("The log does not reach that far yet"),
      410: refused("Entries removed because of their age"),
    },
  },
  "get /v1/explain": {
    summary: "Explain a rule on a receipt, or an error code, with a fix",
    query: { name: "The rule or the code" },
    responses: {
      200: json("Meaning", "Its meaning"),
      400: BAD,
      404: refused("Unknown rule or code"),
    },
  },
  "get /v1/policy": {
    summary: "The active policy, and what is wrong with a newer text",
    responses: { 200: json("Policy", "The policy") },
  },
  "post /v1/policy/compare": {
    role: "admin",
    summary: "Compare a candidate policy with the active one, and with recorded decisions",
    body: "Candidate",
    responses: {
      200: json("Comparison", "What it would change"),
      400: BAD,
      413: refused("Too large"),
      422: json("NotCompared", "The candidate does not load"),
    },
  },
  "get /v1/policy/schema": {
    summary: "The JSON Schema of a policy, for editors",
    responses: { 200: { description: "JSON Schema 2020-12", type: JSON_TYPE } },
  },
  "post /v1/policy/check": {
    role: "admin",
    summary: "Check a candidate policy; changes nothing",
    body: "PolicyText",
    responses: {
      200: json("Checked", "Its problems, or its hash"),
      400: BAD,
      413: refused("Too large"),
    },
  },
  "get /v1/policy/history": {
    summary: "The policies that were in force, the newest first, with operator and text",
    responses: { 200: json("PolicyHistory", "At most 100 policies") },
  },
  "post /v1/policy/apply": {
    role: "admin",
    summary:
      "Write a policy to the file of this gateway and put it in force; refused without a receipt",
    body: "PolicyApply",
    responses: { ...CHANGE, 413: refused("Too large") },
  },
  "post /v1/policy/rollback": {
    role: "admin",
    summary: "Write an earlier policy of the history to the file and put it in force",
    body: "PolicyRollback",
    responses: CHANGE,
  },
  "post /v1/policy/mode": {
    role: "admin",
    summary: "Change the mode of one block, or of the whole policy, in the file; comments stay",
    body: "PolicyModeChange",
    responses: CHANGE,
  },
  "post /v1/policy/reload": {
    role: "admin",
    summary: "Read the policy file again; the last good one stays when it does not load",
    responses: {
      200: json("Reloaded", "It decides from now on"),
      422: json("NotReloaded", "The last good policy still decides"),
    },
  },
};

const UNAUTHORIZED = refused("The credential is missing or wrong");
const FORBIDDEN = refused(
  "The operator's role does not include this (ERR_CONTROL_ROLE), or the request is not from a page of this gateway (ERR_CONTROL_CSRF, ERR_CONTROL_ORIGIN)",
);
const TOO_MANY = refused("Too many wrong tokens; wait a minute");
const UNAVAILABLE = refused(
  "The receipt store, the store of revocations or another gateway does not respond",
);

/** Refusals of routes that need no role. */
const NO_ROLE = { 401: UNAUTHORIZED, 403: FORBIDDEN, 429: TOO_MANY };

/** The OpenAPI 3.1 description of the control plane. */
export const CONTROL_API: Schema = {
  openapi: "3.1.0",
  info: {
    title: "Countersign control API",
    version: VERSION,
    summary: "The operators' API of a gateway.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
  servers: [{ url: "http://127.0.0.1:8081" }],
  security: [{ token: [] }, { session: [] }, { certificate: [] }],
  paths: pathsOf(ROUTES),
  components: {
    securitySchemes: {
      token: { type: "http", scheme: "bearer" },
      session: {
        type: "apiKey",
        in: "cookie",
        name: "countersign-session",
        description:
          "Of POST /v1/login or GET /v1/login/oidc; with TLS its name begins with __Host-. Changes need the header x-countersign-csrf with the value of csrf from GET /v1/me",
      },
      certificate: { type: "mutualTLS" },
    },
    schemas: SCHEMAS,
  },
};

function pathsOf(routes: Readonly<Record<string, Route>>): Schema {
  const paths: Record<string, Record<string, Schema>> = {};
  for (const [key, route] of Object.entries(routes)) {
    const [method = "", path = ""] = key.split(" ");
    (paths[path] ??= {})[method] = operationOf(route);
  }
  return paths;
}

/** The least role of a route of the server; `admin` for a route that is not described. */
export function roleOfRoute(method: string, path: string): NeededRole {
  return ROLES_OF_ROUTES.get(`${method.toLowerCase()} ${path}`) ?? "admin";
}

const ROLES_OF_ROUTES: ReadonlyMap<string, NeededRole> = new Map(
  Object.entries(ROUTES).map(([key, { role }]) => [
    key.replace("{tile}", "*").replaceAll(/\{(\w+)\}/gu, ":$1"),
    role ?? "viewer",
  ]),
);

function operationOf({
  summary,
  role = "viewer",
  path = {},
  query = {},
  body,
  responses,
}: Route): Schema {
  const parameters = [
    ...Object.entries(path).map(([name, text]) => parameter("path", name, text)),
    ...Object.entries(query).map(([name, text]) => parameter("query", name, text)),
  ];
  const common = { 401: UNAUTHORIZED, 403: FORBIDDEN, 429: TOO_MANY, 503: UNAVAILABLE };
  const all = role === "none" ? { ...NO_ROLE, ...responses } : { ...responses, ...common };
  return {
    summary,
    "x-countersign-role": role,
    ...(role === "none" ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: contentOf({ description: "", schema: body }) } }),
    responses: Object.fromEntries(
      Object.entries(all).map(([status, response]) => [
        status,
        {
          description: response.description,
          ...(Number(status) < 400 && response.schema === undefined && response.type === undefined
            ? {}
            : { content: contentOf(response) }),
        },
      ]),
    ),
  };
}

function parameter(place: "path" | "query", name: string, description: string): Schema {
  return {
    in: place,
    name,
    description,
    ...(place === "path" ? { required: true } : {}),
    schema: { type: "string" },
  };
}

function contentOf({ schema, type = JSON_TYPE }: ResponseSpec): Schema {
  return {
    [type]: schema === undefined ? {} : { schema: { $ref: `#/components/schemas/${schema}` } },
  };
}
