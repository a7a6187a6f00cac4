// A client as a process of its own, so that a test can freeze it: neither read nor FIN comes from it then.
// Arguments: the gateway's address, the thread. Prints a line for each chunk it reads.
import { request } from "node:http";

const [url, threadId] = process.argv.slice(2);
const asked = request(`${url}/agents/support`, { method: "POST" }, (answer) => {
  answer.on("data", (chunk) => process.stdout.write(`${chunk.length}\n`));
  answer.on("end", () => process.exit(0));
  answer.on("error", () => process.exit(0));
});
asked.on("error", () => process.exit(1));
asked.end(JSON.stringify({ threadId, runId: "r", protocolVersion: "1.0", messages: [] }));
