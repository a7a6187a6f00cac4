// CopilotKit's runtime with its own routes; clients ask for a run at agent/NAME/run.
import { createServer } from "node:http";
import { CopilotRuntime } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";
import { createBuiltInAgent } from "./built-in-agent.mjs";
import { announce } from "../serve.mjs";

const runtime = new CopilotRuntime({ agents: { main: createBuiltInAgent() } });
const server = createServer(createCopilotNodeListener({ runtime, basePath: "/copilotkit" }));
server.listen(0, "127.0.0.1", () => announce(server.address().port, "/copilotkit/agent/main/run"));
