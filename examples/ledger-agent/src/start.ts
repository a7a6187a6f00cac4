import { LedgerAgent } from "./agent.js";
import { Ledger } from "./ledger.js";
import { serve } from "./server.js";

/** The agent at work. */
export type Running = { readonly url: string; stop(): Promise<void> };

/** The output for a person, line by line. */
export type Lines = { out(line: string): void; err(line: string): void };

const PORT = "8070";

/** Starts the agent from the environment; prints one line and returns `undefined` on an error. */
export async function start(
  environment: Readonly<Record<string, string | undefined>>,
  lines: Lines,
): Promise<Running | undefined> {
  const fail = (why: string): undefined => {
    lines.err(`ledger-agent: ${why}`);
    return undefined;
  };
  const path = environment["LEDGER"] ?? "ledger.sqlite";
  const wanted = environment["PORT"] ?? PORT;
  const port = /^\d{1,5}$/.test(wanted) ? Number(wanted) : Number.NaN;
  if (!(port <= 65_535)) {
    return fail(`PORT must be a number from 0 to 65535, not ${JSON.stringify(wanted)}`);
  }
  // SQLite takes an empty name for a file that it deletes at the end.
  if (path === "") return fail("LEDGER must name a file");
  let ledger: Ledger;
  try {
    ledger = await Ledger.open(path);
  } catch (error) {
    return fail(`LEDGER=${path} cannot be opened: ${reasonOf(error)}`);
  }
  try {
    const agent = new LedgerAgent(ledger, (diagnostic) => lines.err(JSON.stringify(diagnostic)));
    const server = await serve(agent, port);
    lines.out(`ledger-agent: ${server.url} writes ${path}`);
    lines.out("Put a gateway in front of it, or point an AG-UI client at it. Stop with Ctrl-C.");
    return {
      url: server.url,
      stop: async () => {
        await server.stop();
        ledger.close();
      },
    };
  } catch (error) {
    ledger.close();
    const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const reason = isTaken ? "it is taken; choose another with PORT" : reasonOf(error);
    return fail(`cannot listen on port ${port}: ${reason}`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
