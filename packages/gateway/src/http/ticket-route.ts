import type { Door } from "./access-control.js";
import type { HttpAnswer } from "./http-sink.js";
import type { Surroundings } from "../runs/gateway-context.js";
import type { Upstream } from "../agent/upstream.js";
import { bearerOf } from "./credentials.js";
import { refuse } from "./refuse.js";
import type { HttpQuestion } from "./run-route.js";
import { sessionOf } from "./session-id.js";

/** `POST /ag-ui/tickets?session=&agent=`: a ticket for one `GET /ag-ui/stream`. */
export async function serveTicket(
  around: Surroundings,
  door: Door,
  upstream: Upstream,
  question: HttpQuestion,
  answer: HttpAnswer,
  url: URL,
): Promise<void> {
  try {
    const grant = await door.access.authenticate(bearerOf(question));
    door.tickets.assertRoom(grant.principal);
    const named = sessionOf(question, url);
    const session = named ?? around.mintId("session");
    if (named === undefined) door.owners.claim(session, grant.principal);
    else await door.owners.own(named, grant.principal);
    const agent = upstream.target.name;
    const { ticket, expiresAt } = door.tickets.issue(grant, { sessionId: session, agent });
    const query = new URLSearchParams({ session, agent, ticket });
    answer.writeHead(201, { "content-type": "application/json", "cache-control": "no-store" });
    answer.end(
      JSON.stringify({
        ticket,
        session,
        agent,
        expires_at: new Date(expiresAt).toISOString(),
        url: `/ag-ui/stream?${query.toString()}`,
      }),
    );
  } catch (error) {
    refuse(around, answer, error);
  }
}
