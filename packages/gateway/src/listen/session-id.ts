import { SESSION_HEADER } from "../upstream/session-header.js";
import type { HttpQuestion } from "./run-route.js";

const SESSION = /^[\w.:@-]{1,256}$/;

/** The session a request names in its header or query; `undefined` when it names none that is well formed. */
export function sessionOf(question: HttpQuestion, url: URL): string | undefined {
  const header = question.headers[SESSION_HEADER];
  const named =
    url.searchParams.get("session") ?? (typeof header === "string" ? header : undefined);
  return named !== undefined && SESSION.test(named) ? named : undefined;
}
