import { createAdaptorServer } from "@hono/node-server";
import { createServer } from "node:http";
import type { Server as HttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Server as TlsServer } from "node:tls";
import { statesOf } from "../base/files.js";
import type { FileStates } from "../base/files.js";
import type { ListenLimits } from "../base/limits.js";
import type { Journal } from "../base/ports.js";
import type { GatewayConfig, TlsFiles } from "../config/config.js";
import type { ControlApp } from "../control/control-env.js";
import { isOurName } from "../http/host-name.js";
import { timersOf } from "../http/server.js";
import type { TlsOptions } from "../http/server.js";
import { EXPOSITION_TYPE } from "../telemetry/exposition.js";
import { readTls } from "./read-tls.js";
import { watchFiles } from "./watch-files.js";
import type { FileWatch } from "./watch-files.js";

/** Creates the listener of the control plane, with TLS and client certificates if they are configured. */
export function createControlListener(
  fetch: ControlApp["fetch"],
  { control, limits }: GatewayConfig,
  tls: TlsOptions | undefined,
): HttpServer {
  const serverOptions = { ...timersOf(limits), maxHeaderSize: limits.headerBytes };
  if (tls === undefined) return createAdaptorServer({ fetch, serverOptions }) as HttpServer;
  const hasCertificates = control.certificates.size > 0;
  return createAdaptorServer({
    fetch,
    createServer: createTlsServer,
    serverOptions: {
      ...serverOptions,
      ...tls,
      handshakeTimeout: limits.headersTimeoutMs,
      requestCert: hasCertificates,
      // Without a certificate an operator may have a token; the certificate of another authority names nobody.
      rejectUnauthorized: hasCertificates && control.requiresCertificate,
    },
  }) as HttpServer;
}

/** Creates the listener for the metrics alone. It has no credentials and nothing else to read. */
export function createMetricsListener(
  metrics: () => Promise<string>,
  { host, names }: NonNullable<GatewayConfig["metrics"]["listener"]>,
  limits: ListenLimits,
): HttpServer {
  const options = { ...timersOf(limits), maxHeaderSize: limits.headerBytes };
  return createServer(options, (request, response) => {
    const end = (status: number, text: string, type = "text/plain; charset=utf-8"): void => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      response.end(text);
    };
    if (!isOurName(request.headers.host, [host, ...names])) {
      end(403, "This name is not known here. Fix: add it to metrics.names, or use the address.\n");
    } else if (request.method !== "GET" && request.method !== "HEAD") {
      end(405, "Only GET is possible here.\n");
    } else if (request.url?.split("?", 1)[0] !== "/metrics") {
      end(404, "Metrics are at /metrics.\n");
    } else {
      metrics().then(
        (text) => end(200, text, EXPOSITION_TYPE),
        () => end(503, "The metrics could not be read.\n"),
      );
    }
  });
}

/** The TLS of a listener: its files, their content, and their states before they were read. */
export type OpenTls = {
  readonly files: TlsFiles;
  readonly options: TlsOptions;
  readonly seen: FileStates;
};

/** Reads the files of a listener with TLS; `undefined` for a listener without. */
export function openTls(files: TlsFiles | undefined): OpenTls | undefined {
  if (files === undefined) return undefined;
  const paths = [files.cert, files.key, ...(files.clientCa === undefined ? [] : [files.clientCa])];
  const seen = statesOf(paths);
  return { files, options: readTls(files), seen };
}

/** Reads the files of a listener again when they change. Invalid files leave the last valid ones in use. */
export function followTls(
  server: TlsServer,
  { files, seen: first }: OpenTls,
  { listener, journal }: { readonly listener: string; readonly journal: Journal },
): FileWatch {
  let seen = first;
  return watchFiles(
    () => seen,
    () => {
      seen = statesOf(seen.keys());
      try {
        server.setSecureContext(readTls(files));
        journal.info({ listener, file: files.cert }, "certificate reloaded");
      } catch (error) {
        journal.error(
          { code: "CERTIFICATE_KEPT", listener, reason: (error as Error).message },
          "the certificate could not be reloaded; the last valid one stays in use",
        );
      }
    },
  );
}
