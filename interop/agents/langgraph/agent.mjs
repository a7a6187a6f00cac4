// LangGraph's development server, and AG-UI's adapter in front of it.
import { dirname } from "node:path";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { LangGraphAgent } from "@ag-ui/langgraph";
import { startServer } from "@langchain/langgraph-api/server";
import { serve } from "../serve.mjs";

const cwd = dirname(fileURLToPath(import.meta.url));
const port = await freePort();
await startServer({
  port,
  nWorkers: 4,
  host: "127.0.0.1",
  cwd,
  graphs: { main: "./graph.mjs:graph" },
});
const legacy = process.env.LEGACY_INTERRUPTS === "1";

serve((input) =>
  new LangGraphAgent({
    graphId: "main",
    deploymentUrl: `http://127.0.0.1:${port}`,
    emitInterruptOutcome: !legacy,
  }).run(input),
);

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
