import { ENTRY_COLUMNS } from "@countersign/receipts/log";
import { VERSION } from "../base/version.js";
import { SCHEMAS } from "./openapi-schemas.js";
import type { Schema } from "./openapi-schemas.js";

type ResponseSpec = {
  readonly description: string;
  readonly schema?: string;
  readonly type?: string;
};
type Route = {
  readonly summary: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly responses: Readonly<Record<number, ResponseSpec>>;
};

const JSON_TYPE = "application/json";
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
  noted: "true: only events that were allowed although a rule would block them",
  ...Object.fromEntries(ENTRY_COLUMNS.map((column) => [column, "Exactly this value"])),
};
const BAD = refused("A parameter or field is wrong");

/** Every route of the control plane, by method and path. */
const ROUTES: Readonly<Record<string, Route>> = {
  "get /v1/status": {
    summary: "Version, readiness, policy, store and counts on one page",
    responses: { 200: json("Status", "The status of the gateway") },
  },
  "get /v1/openapi.json": {
    summary: "This description",
    responses: { 200: { description: "OpenAPI 3.1", type: JSON_TYPE } },
  },
  "get /metrics": {
    summary: "Figures for Prometheus; needs no token where metrics.public is set",
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
    summary: "End a run at any gateway; its client gets a RUN_ERROR",
    path: { id: "The session's id", run: "The run's id" },
    responses: {
      202: json("Stopped", "It is being stopped"),
      404: refused("No such run"),
      409: refused("It has ended already"),
    },
  },
  "post /v1/sessions/{id}/stop": {
    summary: "End all open runs of a session, at whichever gateways they are",
    path: { id: "The session's id" },
    responses: {
      202: json("SessionStopped", "They are being stopped"),
      404: refused("No such session"),
    },
  },
  "post /v1/sessions/{id}/capabilities": {
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
  "post /v1/capabilities": {
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
    summary: "Revoke a token, effective for the next event of every open stream",
    body: "Revoke",
    responses: {
      200: json("Revoked", "Revoked, and kept"),
      400: BAD,
      413: refused("Too large"),
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
    },
  },
  "get /v1/receipts/{seq}/proof": {
    summary: "Proof that an entry is in the log",
    path: { seq: "Its place in the log" },
    responses: { 200: plain("C2SP tlog-proof"), 400: BAD, 404: refused("No such entry") },
  },
  "get /v1/checkpoint": {
    summary: "A checkpoint of everything acknowledged, signed now",
    responses: { 200: plain("C2SP checkpoint") },
  },
  "get /v1/tile/{tile}": {
    summary: "A tile or entry bundle of the log",
    path: { tile: "Path of the tile, C2SP tlog-tiles" },
    responses: {
      200: plain("The tile", "application/octet-stream"),
      400: BAD,
      404: refused("The log does not reach that far yet"),
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
    summary: "Compare a candidate policy with the active one, and with recorded decisions",
    body: "Candidate",
    responses: {
      200: json("Comparison", "What it would change"),
      400: BAD,
      413: refused("Too large"),
      422: json("NotCompared", "The candidate does not load"),
    },
  },
  "post /v1/policy/reload": {
    summary: "Read the policy file again; the last good one stays when it does not load",
    responses: {
      200: json("Reloaded", "It decides from now on"),
      422: json("NotReloaded", "The last good policy still decides"),
    },
  },
};

const UNAUTHORIZED = refused("The admin token is missing or wrong");
const TOO_MANY = refused("Too many wrong tokens; wait a minute");
const UNAVAILABLE = refused(
  "The receipt store, the store of revocations or another gateway does not respond",
);

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
  security: [{ admin: [] }],
  paths: pathsOf(ROUTES),
  components: {
    securitySchemes: { admin: { type: "http", scheme: "bearer" } },
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

function operationOf({ summary, path = {}, query = {}, body, responses }: Route): Schema {
  const parameters = [
    ...Object.entries(path).map(([name, text]) => parameter("path", name, text)),
    ...Object.entries(query).map(([name, text]) => parameter("query", name, text)),
  ];
  return {
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: contentOf({ description: "", schema: body }) } }),
    responses: Object.fromEntries(
      Object.entries({ ...responses, 401: UNAUTHORIZED, 429: TOO_MANY, 503: UNAVAILABLE }).map(
        ([status, response]) => [
          status,
          { description: response.description, content: contentOf(response) },
        ],
      ),
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
