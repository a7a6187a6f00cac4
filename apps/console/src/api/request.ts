import { currentToken, signOut } from "./session.js";

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
  /** The token that the login page tries before a session exists. */
  readonly token?: string;
};

/**
 * Sends a request to the control plane.
 *
 * @throws ControlProblem with the code of the refusal
 */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, signal, token = currentToken() } = options;
  const response = await fetch(path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
    cache: "no-store",
    credentials: "omit",
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new ControlProblem(0, "NO_ANSWER", "The gateway does not respond");
  });
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (isOut(problem) && options.token === undefined) signOut(reasonOf(problem));
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

/** The reason that the login page displays. */
export function reasonOf({ status, message }: ControlProblem): string {
  if (status === 401) return "The gateway rejects this token. Was it rotated?";
  if (status === 429) return "Too many wrong tokens were tried. Wait a minute, then sign in again.";
  return message;
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
