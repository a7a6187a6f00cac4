import { currentToken, signOut } from "./session.js";

/** A refusal of the control plane, or that nobody answered. */
export class ControlProblem extends Error {
  /** Zero when nobody answered. */
  readonly status: number;
  readonly code: string;
  /** Everything that was answered, for refusals that say more. */
  readonly body: unknown;

  constructor(status: number, code: string, message: string, body?: unknown) {
    super(message);
    this.name = "ControlProblem";
    this.status = status;
    this.code = code;
    this.body = body;
  }
}

/** What may be chosen for a request. */
export type RequestOptions = {
  readonly method?: "GET" | "POST";
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** Before anybody is signed in: the login tries a token. */
  readonly token?: string;
};

/**
 * Asks the control plane.
 *
 * @throws ControlProblem with the code that it refused with
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
    throw new ControlProblem(0, "NO_ANSWER", "The gateway does not answer");
  });
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (isOut(problem) && options.token === undefined) signOut(reasonOf(problem));
  throw problem;
}

/** Asks for JSON. */
export async function ask<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
  const response = await request(path, options);
  return (await response.json()) as Answer;
}

/** Asks for text. */
export async function askText(path: string, options: RequestOptions = {}): Promise<string> {
  return (await request(path, options)).text();
}

function isOut({ status }: ControlProblem): boolean {
  return status === 401 || status === 429;
}

/** Why the login is shown again. */
export function reasonOf({ status, message }: ControlProblem): string {
  if (status === 401) return "The gateway does not take this token. Was it made anew?";
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
    return new ControlProblem(response.status, String(response.status), "The gateway refused");
  }
}
