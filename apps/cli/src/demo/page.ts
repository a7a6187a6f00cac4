import type { RequestListener, ServerResponse } from "node:http";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Gateway } from "@countersign/gateway";
import { encodeSse } from "@countersign/wire/sse";

const ASSETS = new URL("../../assets/demo/", import.meta.url);

/** The files of the page: nothing else is ever read. */
const FILES: ReadonlyMap<string, string> = new Map([
  ["index.html", "text/html; charset=utf-8"],
  ["demo.css", "text/css; charset=utf-8"],
  ["main.js", "text/javascript; charset=utf-8"],
  ["conversation.js", "text/javascript; charset=utf-8"],
  ["feed.js", "text/javascript; charset=utf-8"],
  ["stream.js", "text/javascript; charset=utf-8"],
  ["tools.js", "text/javascript; charset=utf-8"],
]);

/** The addresses the page talks to. */
export type PageSettings = { readonly guarded: string; readonly direct: string };

const SESSION = /^[\w-]{8,64}$/;

/** Serves the demo's page, its settings and the gateway's live feed, without the admin token leaving us. */
export function createDemoPage(
  gateway: Gateway,
  openSession: (session: string) => Promise<PageSettings>,
): RequestListener {
  return (request, response) => {
    // Appended, not resolved: `//` would be an address without a host, and no page may end the demo with it.
    const asked = request.url?.startsWith("/") === true ? request.url : "/";
    const url = new URL(`http://demo.invalid${asked}`);
    const path = url.pathname.slice(1) || "index.html";
    if (path === "settings.json") {
      const session = url.searchParams.get("session") ?? "";
      if (!SESSION.test(session)) {
        response.writeHead(400).end();
        return;
      }
      openSession(session).then(
        (settings) => {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify(settings));
        },
        () => response.writeHead(500).end(),
      );
    } else if (path === "feed") serveFeed(gateway, response);
    else serveFile(path, response).catch(() => response.destroy());
  };
}

async function serveFile(name: string, response: ServerResponse): Promise<void> {
  const type = FILES.get(name);
  if (type === undefined) {
    response.writeHead(404).end();
    return;
  }
  const body = await readFile(fileURLToPath(new URL(name, ASSETS)));
  response.writeHead(200, {
    "content-type": type,
    "content-security-policy": "default-src 'self'; connect-src *; img-src data:; style-src 'self'",
  });
  response.end(body);
}

function serveFeed(gateway: Gateway, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  const stop = gateway.context.feed.listen((item) => {
    response.write(encodeSse(JSON.stringify(item)));
  });
  response.on("close", stop);
}
