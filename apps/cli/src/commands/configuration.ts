import { CountersignError } from "@countersign/core";
import { loadConfig } from "@countersign/gateway";
import type { GatewayConfig } from "@countersign/gateway";
import { pathExists } from "../files/path-exists.js";
import { readText } from "../files/read-file.js";
import "./errors.js";

/** The default path of the configuration. */
export const CONFIG_FILE = "countersign.yaml";

/**
 * Reads the configuration, if there is one. The default file is optional; a file named by option must exist.
 */
export function readConfiguration(file: string): GatewayConfig | undefined {
  if (pathExists(file)) {
    return loadConfig(readText(file), { file, environment: process.env });
  }
  if (file === CONFIG_FILE) return undefined;
  throw new CountersignError(
    "ERR_CLI_NO_CONFIG",
    `${file} does not exist. Fix: name the configuration with --config`,
    { file },
  );
}
