import { LedgerAgent } from "./agent.js";
import { Ledger } from "./ledger.js";
import { serve } from "./server.js";

const path = process.env["LEDGER"] ?? "ledger.sqlite";
const port = Number(process.env["PORT"] ?? 8090);
const ledger = await Ledger.open(path);
const agent = new LedgerAgent(ledger, (diagnostic) => {
  process.stderr.write(`${JSON.stringify(diagnostic)}\n`);
});
const server = await serve(agent, port);
process.stdout.write(`ledger-agent: ${server.url} writes ${path}\n`);
process.stdout.write(
  "Put a gateway in front of it, or point an AG-UI client at it. Stop with Ctrl-C.\n",
);
process.once("SIGINT", () => {
  void server.stop().then(() => ledger.close());
});
