import { CountersignError } from "@countersign/core";
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { TlsFiles } from "../config/config.js";
import { readRegularFile } from "../base/files.js";
import type { TlsOptions } from "../http/server.js";

import "../base/errors.js";

/** Room for a chain of many certificates. */
const MAX_PEM_BYTES = 1024 * 1024;

/** Reads and checks the certificate and key of a listener, and the authority of client certificates; an error names the file. */
export function readTls(files: TlsFiles): TlsOptions {
  const cert = tryFile(files.cert, (text) => createSecureContext({ cert: text }));
  const key = tryFile(files.key, (text) => createSecureContext({ cert, key: text }));
  if (files.clientCa === undefined) return { cert, key };
  // An authority without a certificate would trust those of the system.
  const ca = tryFile(files.clientCa, (text) => new X509Certificate(text));
  return { cert, key, ca };
}

function tryFile(file: string, use: (text: string) => unknown): string {
  try {
    const text = readRegularFile(file, MAX_PEM_BYTES).toString("utf8");
    use(text);
    return text;
  } catch (error) {
    const { code = "unknown" } = error as { code?: string };
    throw new CountersignError(
      "ERR_SERVE_TLS",
      `${file} cannot be used: ${REASONS.get(code) ?? code}`,
      {
        file,
        cause: code,
      },
    );
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "it is not there"],
  ["ERR_FILE_KIND", "it is not a regular file"],
  ["ERR_FILE_TOO_LARGE", "it is larger than a megabyte"],
  ["EACCES", "it may not be read"],
  ["ERR_OSSL_PEM_NO_START_LINE", "it is not PEM"],
  ["ERR_OSSL_UNSUPPORTED", "it is not a private key in PEM"],
  ["ERR_OSSL_X509_KEY_VALUES_MISMATCH", "it does not belong to the certificate"],
]);
