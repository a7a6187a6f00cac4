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
 * Two agents of one scripted program: `support` behind the gateway, `unguarded` without it.
 *
 * Nothing but the address differs: the runtime needs no change to be guarded.
 */
export function createAppServer({ guardedUrl, directUrl }) {
  const runtime = new CopilotRuntime({
    agents: {
      support: new HttpAgent({ url: guardedUrl }),
      unguarded: new HttpAgent({ url: directUrl }),
    },
  });
  const copilot = createCopilotNodeListener({ runtime, basePath: "/api/copilotkit" });
  return createServer((request, response) => {
    // Appended, not resolved: `//` would be an address without a host.
    const { pathname } = new URL(`http://page${request.url.startsWith("/") ? request.url : "/"}`);
    if (pathname.startsWith("/api/copilotkit")) copilot(request, response);
    else sendPage(pathname, response).catch(() => response.writeHead(404).end());
  });
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
