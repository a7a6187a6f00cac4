import type { ControlApp, ControlContext } from "./control-env.js";
import { CONSOLE_PAGE } from "./console-files.js";
import type { ConsoleFile, ConsoleFiles } from "./console-files.js";

/**
 * Only our own files run or are fetched: any name that an agent or browser sends stays text. Trusted Types block the
 * DOM sinks where text could become a script.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

const PREFIX = "/console/";

/** Serves the console's files without the token: they contain no data of this gateway. */
export function addConsoleRoutes(app: ControlApp, files: ConsoleFiles): void {
  const respond = (context: ControlContext, name: string): Response | undefined => {
    const file = files.get(name);
    return file === undefined ? undefined : fileResponse(context, file);
  };
  app.get("/console", (context) => respond(context, CONSOLE_PAGE) ?? context.notFound());
  app.get(`${PREFIX}*`, (context) => {
    const name = context.req.path.slice(PREFIX.length);
    return respond(context, name === "" ? CONSOLE_PAGE : name) ?? context.notFound();
  });
}

function fileResponse(context: ControlContext, { bytes, type, isHashed }: ConsoleFile): Response {
  return context.body(bytes, 200, {
    ...HEADERS,
    "content-type": type,
    "cache-control": isHashed ? "public, max-age=31536000, immutable" : "no-store",
  });
}
