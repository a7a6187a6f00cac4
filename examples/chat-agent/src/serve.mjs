import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { runOf } from "./script.mjs";

const TYPES = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript"],
  [".css", "text/css"],
  [".svg", "image/svg+xml"],
]);
const MAX_BODY = 1024 * 1024;

/**
 * Serves a built page, and the example agent under `/agent` (AG-UI 1.0: POST, answered by SSE) and
 * `/agent/stop`. A page that talks to a gateway may call that one too. Returns the address and how to end it.
 */
export async function serveChat({ folder, port = 0, gateway }) {
  const running = new Map();
  const origin = gateway === undefined ? undefined : new URL(gateway).origin;
  const mayCall =
    origin === undefined ? "'self'" : `'self' ${origin} ${origin.replace(/^http/, "ws")}`;
  const server = createServer((request, response) => {
    // Appended, not resolved: `//` would be an address without a host.
    const asked = request.url?.startsWith("/") ? request.url : "/";
    const { pathname } = new URL(`http://page.invalid${asked}`);
    if (request.method === "POST" && pathname === "/agent") {
      return void run(request, response, running);
    }
    if (request.method === "POST" && pathname === "/agent/stop") {
      return void stop(request, response, running);
    }
    return sendFile(folder, pathname, response, mayCall);
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** `npm start` of an example: serves its page on `PORT`, or tells in one line why it cannot. */
export async function startChat({ folder, environment, out, err }) {
  const port = environment.PORT ?? "0";
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    err(`PORT must be a number from 0 to 65535, not ${JSON.stringify(port)}`);
    return undefined;
  }
  const gateway = environment.GATEWAY;
  if (gateway !== undefined && !isWebAddress(gateway)) {
    err(`GATEWAY must be the address of a gateway, not ${JSON.stringify(gateway)}`);
    return undefined;
  }
  try {
    const chat = await serveChat({ folder, port: Number(port), gateway });
    out(`chat with the example agent: ${chat.url}`);
    return chat;
  } catch (error) {
    const isTaken = error.code === "EADDRINUSE";
    err(isTaken ? `port ${port} is taken; choose another with PORT` : error.message);
    return undefined;
  }
}

async function readBody(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY) throw new RangeError("the body is too large");
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString("utf8"));
}

async function run(request, response, running) {
  let input;
  try {
    input = await readBody(request);
  } catch {
    response.writeHead(400).end();
    return;
  }
  const control = new AbortController();
  running.set(input.runId, control);
  response.on("close", () => control.abort());
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for await (const event of runOf(input, control.signal)) {
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  running.delete(input.runId);
  response.end();
}

async function stop(request, response, running) {
  const { runId } = await readBody(request).catch(() => ({}));
  running.get(runId)?.abort();
  response.writeHead(204).end();
}

/** The file name of a path; empty for an invalid path. */
function nameOf(pathname) {
  if (pathname === "/") return "index.html";
  try {
    const name = normalize(decodeURIComponent(pathname)).replace(/^[/\\]+/, "");
    return name.includes("\0") ? "" : name;
  } catch {
    return "";
  }
}

function sendFile(folder, pathname, response, mayCall) {
  const path = join(folder, nameOf(pathname));
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  if (!path.startsWith(join(folder, "/")) || !isFile) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    // An agent's content on the page runs no script and reaches no other server.
    "content-security-policy": `default-src 'self'; connect-src ${mayCall}; img-src data:; base-uri 'none'; form-action 'self'`,
    "content-type": TYPES.get(extname(path)) ?? "application/octet-stream",
  });
  createReadStream(path).pipe(response);
}

/** Whether a text is an address of the web. */
function isWebAddress(text) {
  try {
    return /^https?:\/\//.test(text) && new URL(text).host !== "";
  } catch {
    return false;
  }
}
