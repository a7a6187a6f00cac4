import { CountersignError } from "@countersign/core";
import { loadConfig } from "@countersign/gateway";
import type { GatewayConfig } from "@countersign/gateway";
import { isThere } from "../files/is-there.js";
import { readText } from "../files/read-file.js";
import "./errors.js";

/** Where a configuration is looked for when none is named. */
export const CONFIG_FILE = "countersign.yaml";

/** The configuration, if there is one: nobody has to have one, but one that was asked for by name must be there. */
export function readConfiguration(file: string): GatewayConfig | undefined {
  if (isThere(file)) {
    return loadConfig(readText(file), { file, environment: process.env });
  }
  if (file === CONFIG_FILE) return undefined;
  throw new CountersignError("ERR_CLI_NO_CONFIG", `${file} is not there`, { file });
}
