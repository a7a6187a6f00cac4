import { begin, currentCsrf, end } from "./session.js";
import type { Me } from "./session.js";

/** A refusal of the control plane, or a missing response. */
export class ControlProblem extends Error {
  /** Zero without a response. */
  readonly status: number;
  readonly code: string;
  /** The whole response body, for refusals with more members. */
  readonly body: unknown;

  constructor(status: number, code: string, message: string, body?: unknown) {
    super(message);
    this.name = "ControlProblem";
    this.status = status;
    this.code = code;
    this.body = body;
  }
}

/** Options of a request. */
export type RequestOptions = {
  readonly method?: "GET" | "POST";
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** A refusal does not end the session: there is none yet. */
  readonly isLogin?: boolean;
};

/**
 * Sends a request to the control plane.
 *
 * @throws ControlProblem with the code of the refusal
 */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, signal } = options;
  const csrf = method === "GET" ? undefined : currentCsrf();
  const response = await fetch(path, {
    method,
    headers: {
      ...(csrf === undefined ? {} : { "x-countersign-csrf": csrf }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
    cache: "no-store",
    credentials: "same-origin",
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new ControlProblem(0, "NO_ANSWER", "The gateway does not respond");
  });
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (isOut(problem) && options.isLogin !== true) end(reasonOf(problem));
  throw problem;
}

/** Fetches JSON. */
export async function fetchJson<Data>(path: string, options: RequestOptions = {}): Promise<Data> {
  const response = await request(path, options);
  return (await response.json()) as Data;
}

/** Fetches text. */
export async function fetchText(path: string, options: RequestOptions = {}): Promise<string> {
  return (await request(path, options)).text();
}

function isOut({ status }: ControlProblem): boolean {
  return status === 401 || status === 429;
}

function reasonOf({ status }: ControlProblem): string {
  return status === 401
    ? "Your session has ended. Sign in again."
    : "Too many wrong tokens were tried. Wait a minute, then sign in again.";
}

/** Finds out whether this browser has a session. */
export async function resumeSession(): Promise<void> {
  try {
    begin(await fetchJson<Me>("/v1/me", { isLogin: true }));
  } catch (error) {
    const { status, message } = error as ControlProblem;
    end(status === 401 ? undefined : message);
  }
}

/**
 * Exchanges a token for a session.
 *
 * @throws ControlProblem with a reason for the login page
 */
export async function signIn(token: string): Promise<void> {
  begin(await fetchJson<Me>("/v1/login", { method: "POST", body: { token }, isLogin: true }));
}

/** Ends the session, at the gateway too. */
export async function signOut(): Promise<void> {
  await request("/v1/logout", { method: "POST" }).catch(() => {});
  end();
}

async function problemOf(response: Response): Promise<ControlProblem> {
  try {
    const body = (await response.json()) as { code?: unknown; title?: unknown };
    const { code, title } = body;
    return new ControlProblem(
      response.status,
      String(code ?? response.status),
      String(title ?? ""),
      body,
    );
  } catch {
    return new ControlProblem(
      response.status,
      String(response.status),
      "The gateway rejected the request",
    );
  }
}
