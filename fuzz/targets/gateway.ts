import { isJsonObject, parseJson, resolveLimits } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { parseKeyFile } from "../../packages/gateway/src/access/key-file.js";
import { createJwtAuthenticator } from "../../packages/gateway/src/access/jwt.js";
import {
  operatorNameProblem,
  parseOperators,
} from "../../packages/gateway/src/access/operators.js";
import { createKeySet, readKeySet } from "../../packages/gateway/src/access/key-set.js";
import { createTicketSeal } from "../../packages/gateway/src/access/ticket-seal.js";
import { loadConfig } from "../../packages/gateway/src/config/load.js";
import {
  readOperator,
  UNKNOWN_OPERATOR,
} from "../../packages/gateway/src/cluster/order-operator.js";
import {
  decodeText,
  encodeText,
  parseStored,
} from "../../packages/gateway/src/store/stored-text.js";
import {
  clientAddress,
  createAddressReader,
  createNetworks,
  isNetwork,
  networkOf,
} from "../../packages/gateway/src/http/address.js";
import {
  clientDialectOf,
  requestUrl,
  sessionOf,
} from "../../packages/gateway/src/http/exchange.js";
import { bearerOf, socketTokenOf } from "../../packages/gateway/src/http/credentials.js";
import { isAllowedOrigin, isOwnName } from "../../packages/gateway/src/http/origin.js";
import { readEnvelope, readPath } from "../../packages/gateway/src/http/copilotkit/read-call.js";
import { readSurfaceRequests } from "../../packages/policy/src/surface/request.js";
import { routeRequest, routeSocket } from "../../packages/gateway/src/http/path.js";
import { receiptRequestOf } from "../../packages/gateway/src/http/receipt-request.js";
import { readFrame } from "../../packages/gateway/src/http/socket/socket-frame.js";
import { tokenOf } from "../../packages/gateway/src/http/socket/socket-greeting.js";
import { lastEventIdOf } from "../../packages/gateway/src/http/resume/resume-stream.js";
import type { HttpRequest } from "../../packages/gateway/src/http/exchange.js";
import { readPosition } from "../../packages/gateway/src/http/resume/resume-request.js";
import { StreamSeal } from "../../packages/gateway/src/cluster/stream-seal.js";
import { formatTraceparent, parseTraceparent } from "../../packages/gateway/src/telemetry/otlp.js";
import { parseWebhookSecrets } from "../../packages/gateway/src/telemetry/webhook.js";
import { attempt, attemptAsync, hold, holdEqual, holdRefusal, textOf } from "../engine/target.js";
import type { FuzzTarget } from "../engine/target.js";

const NOW = 1_800_000_000_000;
const CLOCK = { now: () => NOW } as never;
const ISSUER = "https://issuer.example";
const AUDIENCE = "countersign-fuzz";
const IDENTITY = generateKeyPairSync("ec", { namedCurve: "P-256" });
const JWK = { ...IDENTITY.publicKey.export({ format: "jwk" }), kid: "k1", alg: "ES256" };
const KEY_SET = JSON.stringify({ keys: [JWK] });
const KEYS = createKeySet({
  issuer: ISSUER,
  clock: CLOCK,
  load: async () => new TextEncoder().encode(KEY_SET),
  cacheMs: Number.POSITIVE_INFINITY,
  cooldownMs: 0,
  staleMs: 0,
});
const JWT = signJwt({ sub: "alice", iss: ISSUER, aud: AUDIENCE, exp: NOW / 1000 + 60 });
const AUTHENTICATOR = createJwtAuthenticator({
  issuer: ISSUER,
  audience: [AUDIENCE],
  algorithms: ["ES256"],
  toleranceMs: 0,
  principalClaim: "sub",
  scopes: [],
  keys: KEYS,
  clock: CLOCK,
});
const SEAL = createTicketSeal(new Uint8Array(32).fill(5));
const TICKET = SEAL.seal({ grant: { way: "w", principal: "alice" }, purpose: "p", expiresAt: NOW });
const LIMITS = resolveLimits({});
const TRUSTED = ["10.0.0.0/8", "fd00::/8"];
const NETWORKS = createNetworks(TRUSTED);
const ADDRESS_OF = createAddressReader({ trustedProxies: TRUSTED });
const STREAM_SEAL = new StreamSeal(new Uint8Array(32).fill(6), "stream");
const SEALED = STREAM_SEAL.sealEvents({ first: 1, last: 2 }, ['{"a":1}', '{"b":2}']);
const CONFIG = `version: 1
listen: { host: 127.0.0.1, port: 8080 }
control: { port: 8081 }
agents:
  - name: main
    url: http://127.0.0.1:8000/
policy: policy.yaml
`;

function signJwt(claims: object): string {
  const encode = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: "ES256", kid: "k1" })}.${encode(claims)}`;
  const key = { key: IDENTITY.privateKey, dsaEncoding: "ieee-p1363" } as const;
  return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
}

/** A request line and header lines, as a request of Node has them after its own parser. */
function requestOf(text: string): { request: HttpRequest; target: string } {
  const [first = "", ...lines] = text.split("\n");
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  for (const line of lines.slice(0, 30)) {
    const colon = line.indexOf(":");
    if (colon < 1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    rawHeaders.push(name, value);
    headers[name] ??= value;
  }
  const [method = "GET", ...rest] = first.split(" ");
  const request = { method, headers, rawHeaders, url: rest.join(" ") };
  return { request: request as unknown as HttpRequest, target: rest.join(" ") };
}

/** Whether a text is one that its reader may find again in a header or a log without harm. */
function isPlainName(text: string): boolean {
  return !/[\p{Cc}\s]/u.test(text);
}

export const GATEWAY_TARGETS: readonly FuzzTarget[] = [
  {
    name: "http-request",
    property:
      "address, query and headers of a request give plain values or a coded error, and one reading each",
    covers: [
      "packages/gateway/src/http/address.ts#createAddressReader",
      "packages/gateway/src/http/resume/resume-request.ts#readPosition",
      "packages/gateway/src/telemetry/otlp.ts#parseTraceparent",
    ],
    dictionary: [
      "GET /ag-ui/stream?session=",
      "POST /ag-ui/run",
      "&ticket=",
      "&run=",
      "&dialect=",
      "?receipts=1",
      "/agents/",
      "/ws",
      "%2e%2e",
      "%00",
      "//host/",
      "http://x/",
      "\nAuthorization: Bearer ",
      "\nLast-Event-ID: ",
      "\nSec-WebSocket-Protocol: ",
      "\nTraceparent: 00-",
      "\nX-Forwarded-For: ",
      "\nOrigin: http://",
      "\nHost: ",
      "::ffff:10.0.0.1",
    ],
    seeds: [
      "GET /ag-ui/stream?session=s1&ticket=abc&run=r1&dialect=0.0.59&receipts=1\nHost: localhost:8080\nOrigin: http://localhost:8080",
      `POST /agents/a%20b\nAuthorization: Bearer abc.def\nLast-Event-ID: ${"a".repeat(22)}.12`,
      "GET /agents/x/ws\nSec-WebSocket-Protocol: base64UrlBearerAuthorization.YWJj, base64UrlBearerAuthorization",
      "GET http://other//x\nTraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\nX-Forwarded-For: 1.2.3.4, 10.0.0.1",
    ],
    run(input) {
      const { request, target } = requestOf(textOf(input));
      const url = requestUrl(target);
      if (url !== undefined) {
        // An empty query is none.
        const read = url.pathname + url.search;
        const again = requestUrl(read);
        holdEqual(again && again.pathname + again.search, read, "an address has one reading");
        const route = routeRequest(request.method ?? "GET", url.pathname);
        const socket = routeSocket(url.pathname);
        hold(typeof route.kind === "string" && typeof socket.kind === "string", "a route");
        const session = attempt(() => sessionOf(request, url));
        if (session.ok && session.value !== undefined) {
          hold(/^[\w.:@-]{1,256}$/u.test(session.value), "a session is a plain name");
        }
        attempt(() => receiptRequestOf(request, url));
        clientDialectOf(request, url);
      }
      for (const tokenIn of [bearerOf, socketTokenOf]) {
        const token = attempt(() => tokenIn(request));
        if (token.ok && token.value !== undefined)
          hold(isPlainName(token.value), "a token is plain");
      }
      const place = lastEventIdOf(request);
      const placed = place === undefined ? undefined : readPosition(place);
      if (placed !== undefined) {
        hold(Number.isSafeInteger(placed.after) && isPlainName(placed.key), "a place is exact");
      }
      const { traceparent, origin, host } = request.headers;
      const trace = parseTraceparent(traceparent);
      if (trace !== undefined)
        holdEqual(parseTraceparent(formatTraceparent(trace)), trace, "survives");
      isAllowedOrigin(origin, host, new Set(["https://app.example"]));
      isOwnName(host, "127.0.0.1", new Set(["https://app.example"]));
      const forwarded = request.headers["x-forwarded-for"];
      const from = clientAddress("10.0.0.1", forwarded as string | undefined, NETWORKS);
      if (from !== undefined) hold(isNetwork(from) && isPlainName(networkOf(from)), "an address");
      const socket = { remoteAddress: "10.0.0.1" };
      holdEqual(
        ADDRESS_OF({ headers: request.headers, socket }),
        from ?? "10.0.0.1",
        "the proxy if it names none",
      );
    },
  },
  {
    name: "socket-frame",
    property: "a frame of a client is a token, a stop, a message, an input or a coded error",
    covers: ["packages/gateway/src/http/socket/socket-frame.ts#readFrame"],
    dictionary: [
      '{"type":"AUTH","token":"',
      '{"type":"STOP"}',
      '"event_type":',
      "data: ",
      '"messages":[]',
    ],
    seeds: [
      '{"type":"AUTH","token":"abc"}',
      '{"type":"stop"}',
      '{"event_type":"submit","payload":{}}',
      'data: {"threadId":"t","runId":"r","messages":[]}\n\n',
    ],
    run(input) {
      const frame = attempt(() => readFrame({ data: Buffer.from(input), isBinary: false }, LIMITS));
      const token = tokenOf(textOf(input));
      if (token !== undefined) hold(token !== "", "a token is not empty");
      if (!frame.ok) return;
      if (frame.value.kind === "token")
        holdEqual(frame.value.token, token, "one reading of a token");
      else if ("text" in frame.value) parseJson(frame.value.text);
      const binary = attempt(() => readFrame({ data: Buffer.from(input), isBinary: true }, LIMITS));
      hold(!binary.ok && binary.code === "ERR_SOCKET_FRAME", "binary frames are refused");
    },
  },
  {
    name: "credential",
    property:
      "a JWT, a ticket or a key set is accepted only as it was issued, and refused with a coded error",
    covers: [
      "packages/gateway/src/access/key-set.ts#readKeySet",
      "packages/gateway/src/access/key-file.ts#parseKeyFile",
      "packages/gateway/src/access/operators.ts#parseOperators",
      "packages/gateway/src/telemetry/webhook.ts#parseWebhookSecrets",
      "packages/gateway/src/cluster/order-operator.ts#readOperator",
    ],
    dictionary: [
      ".",
      "eyJhbGciOiJub25lIn0",
      JWT,
      TICKET,
      '{"keys":[',
      '"kty":"oct"',
      "sha256:",
      "alice ",
      "alice admin sha256:",
    ],
    seeds: [
      JWT,
      TICKET,
      KEY_SET,
      `alice sha256:${createHash("sha256").update("x").digest("hex")}\n# comment\n`,
      `alice viewer sha256:${createHash("sha256").update("x").digest("hex")}\n`,
    ],
    async run(input) {
      const text = textOf(input);
      const grant = await attemptAsync(() => Promise.resolve(AUTHENTICATOR.authenticate(text)));
      if (text === JWT) hold(grant.ok && grant.value !== undefined, "the issued token is accepted");
      if (grant.ok && grant.value !== undefined) {
        // ECDSA signatures can be written in two ways; what they cover cannot.
        const signed = (token: string): string => token.slice(0, token.lastIndexOf("."));
        holdEqual(signed(text), signed(JWT), "only the token that was issued");
      }
      const opened = SEAL.open(text);
      if (opened !== undefined) holdEqual(text, TICKET, "only the ticket that was issued");
      const giver = readOperator(SEAL, "order", { kind: "stop", stop: {}, by: text });
      holdEqual(giver, UNKNOWN_OPERATOR, "nobody else's name is believed");
      const keys = attempt(() => parseKeyFile(text, "keys"));
      if (keys.ok) for (const { name } of keys.value) hold(isPlainName(name), "a name is plain");
      const operators = attempt(() => parseOperators(text, "operators"));
      if (operators.ok) {
        const names = operators.value.map(({ name }) => name);
        hold(
          names.every((name) => operatorNameProblem(name) === undefined),
          "a name is plain",
        );
        hold(new Set(names).size === names.length, "a name is one operator");
      }
      try {
        for (const { length } of parseWebhookSecrets(text)) hold(length >= 24, "a secret is long");
      } catch (error) {
        holdRefusal(error);
      }
      try {
        readKeySet(input);
      } catch (error) {
        // The caller reports any failure as ERR_ACCESS_KEYS.
        holdRefusal(error);
      }
    },
  },
  {
    name: "page-request",
    property:
      "a call of CopilotKit's page, a click and a request of an app are read or refused, and never throw",
    covers: [
      "packages/gateway/src/http/copilotkit/read-call.ts#readEnvelope",
      "packages/gateway/src/http/copilotkit/read-call.ts#readPath",
      "packages/policy/src/surface/request.ts#readSurfaceRequests",
    ],
    dictionary: [
      '{"method":"agent/run","params":{"agentId":"',
      '{"method":"resource/request","params":{"httpMethod":"GET","path":"/',
      '"a2uiAction":{"userAction":{',
      '"__proxiedMCPRequest":{',
      "..",
      "%2e",
    ],
    seeds: [
      '{"method":"agent/stop","params":{"agentId":"a","threadId":"t"}}',
      '{"forwardedProps":{"a2uiAction":{"userAction":{"name":"n","surfaceId":"s","sourceComponentId":"c","context":{}}}}}',
      '{"forwardedProps":{"__proxiedMCPRequest":{"serverId":"s","method":"tools/call","params":{"name":"n"}}}}',
      "agent/a/run",
    ],
    run(input) {
      const text = textOf(input);
      for (const method of ["GET", "POST"]) readPath(method, text, "");
      const value = attempt(() => parseJson(input));
      if (!value.ok) return;
      readEnvelope(value.value);
      if (!isJsonObject(value.value)) return;
      for (const { path } of readSurfaceRequests(value.value)) {
        hold(path.startsWith("/forwardedProps/"), "a request has its place");
      }
    },
  },
  {
    name: "sealed-stream",
    property: "an entry of a stream opens at its own place, unchanged, or not at all",
    covers: ["packages/gateway/src/cluster/stream-seal.ts#StreamSeal"],
    dictionary: [],
    seeds: [SEALED, SEALED.subarray(0, -1), Buffer.alloc(28)],
    run(input) {
      const opened = STREAM_SEAL.openEvents({ first: 1, last: 2 }, input);
      if (opened !== undefined) holdEqual(Buffer.from(input), SEALED, "only what was sealed opens");
      hold(STREAM_SEAL.openEvents({ first: 2, last: 3 }, input) === undefined, "no other place");
      hold(STREAM_SEAL.openFacts(input) === undefined, "events are no facts");
    },
  },
  {
    name: "gateway-config",
    property: "a configuration loads or is refused with a coded error that has no secret in it",
    covers: ["packages/gateway/src/config/load.ts#loadConfig"],
    dictionary: [
      "agents:\n",
      "  - name: ",
      "access:\n",
      "  jwt:\n",
      "limits:\n",
      "${SECRET}",
      "headers:\n",
      "receipts:\n",
      "cluster:\n",
      "*a",
      "&a ",
    ],
    maxBytes: 4096,
    seeds: [
      CONFIG,
      `${CONFIG}limits: { connections: 5 }\n`,
      "agents: [{name: a, url: ${SECRET}}]\n",
    ],
    run(input) {
      const options = { file: "/etc/countersign.yaml", environment: { SECRET: "hunter2-secret" } };
      try {
        loadConfig(textOf(input), options);
      } catch (error) {
        const outcome = attempt(() => {
          throw error;
        });
        hold(!outcome.ok && outcome.code.startsWith("ERR_CONFIG"), "a refusal has a code");
        const message = error instanceof Error ? error.message : "";
        hold(!message.includes("hunter2-secret"), "no secret in a message");
      }
    },
  },
  {
    name: "ledger-text",
    property: "texts and values of the ledger survive the store",
    covers: [
      "packages/gateway/src/store/stored-text.ts#decodeText",
      "packages/gateway/src/store/stored-text.ts#parseStored",
    ],
    dictionary: ["%", "%00", "%25", "%2500", "\u0000"],
    seeds: ["a%b\u0000c", "%00", '{"role":"user"}'],
    run(input) {
      const text = textOf(input);
      holdEqual(decodeText(encodeText(text)), text, "a text survives");
      hold(!encodeText(text).includes("\0"), "no zero reaches the store");
      const stored = attempt(() => parseStored(text) as JsonValue);
      const strict = attempt(() => parseJson(text));
      if (stored.ok && strict.ok && isJsonObject(strict.value)) {
        holdEqual(stored.value, strict.value, "a stored value is read strictly");
      }
    },
  },
];
