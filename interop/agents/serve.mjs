// Serves an agent of any framework as AG-UI's documentation does it: POST, the official encoder, SSE.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { EventEncoder } from "@ag-ui/encoder";
import { RunAgentInputSchema } from "@ag-ui/core";

/** The model's address, as every framework here is given it. */
export const MODEL_URL = process.env.MODEL_URL ?? "http://127.0.0.1:1/v1";

/** Listens on a free port and says where; `run(input)` gives an observable of events. */
export function serve(run) {
  listen((body, response) => answer(run, body, response));
}

/** The same for a framework with a server of its own: `respond(body)` gives a `Response`. */
export function serveResponse(respond) {
  listen(async (body, response) => {
    const { status, headers, body: stream } = await respond(body);
    response.writeHead(status, Object.fromEntries(headers));
    for await (const part of Readable.fromWeb(stream)) response.write(part);
    response.end();
  });
}

function listen(handle) {
  const server = createServer(async (request, response) => {
    try {
      const parts = [];
      for await (const part of request) parts.push(part);
      await handle(JSON.parse(Buffer.concat(parts).toString("utf8")), response);
    } catch (error) {
      console.error(error);
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error?.message ?? error));
    }
  });
  server.listen(0, "127.0.0.1", () => announce(server.address().port));
}

/** The line that the lab waits for. */
export function announce(port, path = "/") {
  console.log(`agent http://127.0.0.1:${port}${path}`);
}

async function answer(run, body, response) {
  const read = RunAgentInputSchema.safeParse(body);
  if (!read.success) {
    response.writeHead(400).end(read.error.message);
    return;
  }
  const encoder = new EventEncoder();
  response.writeHead(200, { "content-type": encoder.getContentType() });
  const events = await run(read.data);
  let failed = false;
  await new Promise((resolve) => {
    const subscription = events.subscribe({
      next: (event) => {
        failed ||= event.type === "RUN_ERROR";
        response.write(encoder.encodeSSE(event));
      },
      // What an adapter throws is told as AG-UI tells it, unless it told it itself: the stream has no other way.
      error: (error) => {
        console.error(error);
        const event = { type: "RUN_ERROR", message: String(error?.message) };
        if (!failed) response.write(encoder.encodeSSE(event));
        resolve();
      },
      complete: resolve,
    });
    response.on("close", () => subscription.unsubscribe());
  });
  response.end();
}
