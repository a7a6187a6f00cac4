import { parseUrl } from "@countersign/core";
import type { BlockList } from "node:net";
import type { PeerCertificate, TLSSocket } from "node:tls";
import { includesRole } from "../../access/operators.js";
import type { OperatorList, Role } from "../../access/operators.js";
import type { AdminToken } from "../../keys/key-directory.js";
import { clientAddress } from "../../http/address.js";
import type { ControlContext, RequestOperator } from "../control-env.js";
import type { ControlCookie } from "./cookies.js";
import type { Credential, OperatorSessions } from "./operator-sessions.js";

/** The sources of operators' credentials. */
export type OperatorAccess = {
  readonly admin: AdminToken;
  readonly operators: OperatorList;
  /** The role of each subject (CN) of a client certificate. */
  readonly certificates: ReadonlyMap<string, Role>;
  readonly sessions: OperatorSessions;
  readonly sessionCookie: ControlCookie;
  /** Proxies whose report of the client's address is believed. */
  readonly trustedProxies: BlockList;
  /** Whether the control plane itself has TLS. */
  readonly isTls: boolean;
  /** Further origins of our own pages: the public one behind a proxy. */
  readonly origins: ReadonlySet<string>;
};

/** The header that repeats the CSRF token. */
const CSRF_HEADER = "x-countersign-csrf";
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** The operator of a request, or why there is none. */
export type Authenticated = RequestOperator | "unauthenticated" | "foreign-page" | "csrf";

/**
 * Authenticates a request: by its bearer token, by the session of its browser or by its client certificate.
 *
 * A browser adds cookies and certificates by itself, also to a request that a page of another origin makes. Such a
 * request must come from our own page; a change by a session must repeat the CSRF token too.
 */
export function authenticate(access: OperatorAccess, context: ControlContext): Authenticated {
  const bearer = bearerOf(context);
  if (bearer !== undefined) {
    const credential = credentialOf(access, bearer);
    return operatorOf(access, context, credential);
  }
  const id = access.sessionCookie.read(context);
  const session = id === undefined ? undefined : access.sessions.find(id);
  if (session !== undefined) {
    if (!isOwnPage(access, context)) return "foreign-page";
    const isChange = !SAFE_METHODS.has(context.req.method);
    if (isChange && context.req.header(CSRF_HEADER) !== session.csrf) return "csrf";
    const operator = operatorOf(access, context, session.credential);
    if (typeof operator === "string") return operator;
    const isValid = (): boolean => access.sessions.isOpen(session);
    return { ...operator, csrf: session.csrf, isValid };
  }
  const credential = certificateOf(access, context);
  if (credential !== undefined && !isOwnPage(access, context)) return "foreign-page";
  return operatorOf(access, context, credential);
}

/** The credential of a token: the admin token's, or that of an operator in the list. */
export function credentialOf(
  { admin, operators }: Pick<OperatorAccess, "admin" | "operators">,
  token: string,
): Credential | undefined {
  if (admin.matches(token)) return { name: admin.name, method: "token", role: () => "admin" };
  const entry = operators.find(token);
  if (entry === undefined) return undefined;
  return { name: entry.name, method: "token", role: () => operators.roleOf(entry) };
}

/** The address of the operator's client; `undefined` if the request came without a connection. */
export function addressOf(
  { trustedProxies }: Pick<OperatorAccess, "trustedProxies">,
  context: ControlContext,
): string | undefined {
  const peer = connectionOf(context)?.remoteAddress;
  if (peer === undefined) return undefined;
  return clientAddress(peer, context.req.header("x-forwarded-for"), trustedProxies) ?? peer;
}

/**
 * Whether a request comes from a page of this control plane, or from no page at all. Browsers name the origin of every
 * change, and current ones the relation of the two sites of every request.
 */
export function isOwnPage(
  { isTls, origins }: Pick<OperatorAccess, "isTls" | "origins">,
  context: ControlContext,
): boolean {
  const site = context.req.header("sec-fetch-site");
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  const origin = context.req.header("origin");
  if (origin === undefined || origins.has(origin)) return true;
  const url = parseUrl(origin);
  if (url === undefined || (isTls && url.protocol !== "https:")) return false;
  return url.host === context.req.header("host")?.toLowerCase();
}

/** The connection of a request; a request of a test has none. */
function connectionOf(context: ControlContext): Partial<TLSSocket> | undefined {
  const { incoming } = (context.env as ControlContext["env"] | undefined) ?? {};
  return incoming?.socket as TLSSocket | undefined;
}

function bearerOf(context: ControlContext): string | undefined {
  const header = context.req.header("authorization");
  if (header === undefined) return undefined;
  const [scheme, token = ""] = header.split(" ");
  // A request with another scheme is not authenticated by its cookie instead.
  return scheme?.toLowerCase() === "bearer" ? token : "";
}

function certificateOf(
  { certificates, isTls }: OperatorAccess,
  context: ControlContext,
): Credential | undefined {
  if (certificates.size === 0 || !isTls) return undefined;
  const socket = connectionOf(context);
  if (socket?.authorized !== true) return undefined;
  const { subject } = (socket.getPeerCertificate?.() ?? {}) as Partial<PeerCertificate>;
  // A certificate with two names has a list here, which names nobody.
  const name: unknown = subject?.CN;
  if (typeof name !== "string") return undefined;
  const role = certificates.get(name);
  return role === undefined
    ? undefined
    : { name: `mtls:${name}`, method: "mtls", role: () => role };
}

function operatorOf(
  access: OperatorAccess,
  context: ControlContext,
  credential: Credential | undefined,
): RequestOperator | "unauthenticated" {
  const role = credential?.role();
  if (credential === undefined || role === undefined) return "unauthenticated";
  const { name, method } = credential;
  const isValid = (): boolean => {
    const now = credential.role();
    return now !== undefined && includesRole(now, role);
  };
  return { name, role, method, address: addressOf(access, context), isValid };
}
