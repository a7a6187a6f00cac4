import type { HttpQuestion } from "./run-route.js";

/** The header under which AgentCore and its clients name a session; ours goes by the same name. */
export const SESSION_HEADER = "x-amzn-bedrock-agentcore-runtime-session-id";

const SESSION = /^[\w.:@-]{1,256}$/;

/** The session a request names in its header or query; `undefined` when it names none that is well formed. */
export function sessionOf(question: HttpQuestion, url: URL): string | undefined {
  const header = question.headers[SESSION_HEADER];
  const named =
    url.searchParams.get("session") ?? (typeof header === "string" ? header : undefined);
  return named !== undefined && SESSION.test(named) ? named : undefined;
}
