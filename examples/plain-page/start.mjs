import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { serveChat } from "@countersign/example-chat-agent";
import { loadConfig, startGateway } from "@countersign/gateway";

const file = fileURLToPath(new URL("countersign.yaml", import.meta.url));
const folder = fileURLToPath(new URL("page", import.meta.url));
try {
  const config = loadConfig(await readFile(file, "utf8"), { file, environment: process.env });
  const gateway = await startGateway(config);
  const page = await serveChat({ folder, port: 3000, gateway: gateway.dataUrl });
  process.stdout.write(`page     ${page.url}\ngateway  ${gateway.dataUrl}\n`);
  const stop = () => Promise.all([page.close(), gateway.close()]);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stop());
} catch (error) {
  const helps =
    error.code === "EADDRINUSE" ? "; it needs 3000, 8080 and 8081: stop what listens there" : "";
  process.stderr.write(`${error.message}${helps}\n`);
  process.exit(1);
}
