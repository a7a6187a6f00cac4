// CopilotKit's runtime and the built page on one port.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { HttpAgent } from "@ag-ui/client";
import { CopilotRuntime } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";

const pageFolder = fileURLToPath(new URL("dist/", import.meta.url));
const TYPES = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
]);

/**
 * The page, and two runtimes. `api/copilotkit` has its gateway behind it: two agents of one program, `support` behind the gateway and
 * `unguarded` without it. `api/plain` has its gateway in front: it adds an A2UI catalogue and an MCP App to the agent.
 *
 * Nothing but addresses differ: neither runtime needs a change to be guarded.
 */
export function createAppServer() {
  let handle = (_request, response) => response.writeHead(503).end();
  return {
    server: createServer((request, response) => handle(request, response)),
    serve: ({ behindUrl, directUrl, mcpUrl, inFront }) => {
      const runtimes = {
        "/api/copilotkit": new CopilotRuntime({
          agents: {
            support: new HttpAgent({ url: behindUrl }),
            unguarded: new HttpAgent({ url: directUrl }),
          },
        }),
        "/api/plain": new CopilotRuntime({
          agents: {
            support: new HttpAgent({ url: directUrl }),
            hidden: new HttpAgent({ url: directUrl }),
          },
          a2ui: { enabled: true, injectA2UITool: true },
          mcpApps: { servers: [{ type: "http", url: `${mcpUrl}mcp`, serverId: "shop" }] },
        }),
      };
      const routes = Object.entries(runtimes).map(([basePath, runtime]) => [
        basePath,
        createCopilotNodeListener({ runtime, basePath }),
      ]);
      handle = (request, response) => {
        // Appended, not resolved: `//` would be an address without a host.
        const { pathname } = new URL(
          `http://page${request.url.startsWith("/") ? request.url : "/"}`,
        );
        const route = routes.find(([basePath]) => pathname.startsWith(basePath));
        if (route !== undefined) return route[1](request, response);
        if (pathname === "/gateway.json") return response.end(JSON.stringify(inFront));
        return sendPage(pathname, response).catch(() => response.writeHead(404).end());
      };
    },
  };
}

async function sendPage(pathname, response) {
  // A URL's path is normal already; joining below the folder keeps odd ones inside as well.
  const file = pathname === "/" ? "index.html" : normalize(pathname);
  const bytes = await readFile(join(pageFolder, file));
  response.writeHead(200, {
    "content-type": TYPES.get(extname(file)) ?? "application/octet-stream",
  });
  response.end(bytes);
}
