import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isJsonObject, ownMember, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { ServerAddresses, SuiteOptions } from "@countersign/redteam";
import type { AddressBook, PeerAddresses, RunningAgent } from "@countersign/redteam/agents";
import type { Command } from "commander";
import { requireFolder } from "../../files/path-exists.js";
import { readPort, readWebAddress } from "../capture/arguments.js";

/** The flags of `redteam run` for documents with MCP and A2A actors. */
export type ServerFlags = {
  serversFile?: string;
  serversProp?: string;
  mcpPort?: number;
  a2aPort?: number;
  mcpTarget?: string;
  a2aTarget?: string;
};

/** Adds these flags. */
export function addServerFlags(command: Command): Command {
  return command
    .option("--servers-file <file>", "write the addresses of MCP and A2A servers to this file")
    .option("--servers-prop <name>", "send these addresses in this member of forwardedProps")
    .option("--mcp-port <number>", "port of the first MCP server of a document", readPort)
    .option("--a2a-port <number>", "port of the first A2A server of a document", readPort)
    .option("--mcp-target <url>", "address of the agent's own MCP server", readWebAddress)
    .option("--a2a-target <url>", "address of the agent's own A2A server", readWebAddress);
}

/** The options of the runner for these flags. Without any of them, server actors are not performed. */
export function serverOptions(
  flags: ServerFlags,
  book: AddressBook | undefined,
  demo: RunningAgent | undefined,
): Pick<SuiteOptions, "servers" | "endpoints"> {
  const { serversFile: file, serversProp: forwardedProps, mcpPort, a2aPort } = flags;
  requireFolder("--servers-file", file);
  const isGiven = [file, forwardedProps, mcpPort, a2aPort, book].some((one) => one !== undefined);
  const servers = {
    ports: {
      ...(mcpPort === undefined ? {} : { mcp: mcpPort }),
      ...(a2aPort === undefined ? {} : { a2a: a2aPort }),
    },
    ...(forwardedProps === undefined ? {} : { forwardedProps }),
    announce(addresses: ServerAddresses): void {
      book?.announce(addresses);
      if (file !== undefined) writeServersFile(file, addresses);
    },
  };
  const endpoints = {
    ...demo?.endpoints,
    ...(flags.mcpTarget === undefined ? {} : { mcp: flags.mcpTarget }),
    ...(flags.a2aTarget === undefined ? {} : { a2a: flags.a2aTarget }),
  };
  return { ...(isGiven ? { servers } : {}), endpoints };
}

/** Writes the file in one step, so that an agent never reads half of it. */
function writeServersFile(file: string, { mcp, a2a }: ServerAddresses): void {
  const named = (addresses: Record<string, string>, more: object): object =>
    Object.fromEntries(Object.entries(addresses).map(([name, url]) => [name, { ...more, url }]));
  const content = { mcpServers: named(mcp, { type: "http" }), a2aAgents: named(a2a, {}) };
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

/** Reads the file as an agent does; none is there before the first document with a server. */
export function readServersFile(file: string): PeerAddresses {
  let content: JsonValue = null;
  try {
    content = parseJson(readFileSync(file, "utf8"));
  } catch {
    // No servers yet.
  }
  return { mcp: addressesIn(content, "mcpServers"), a2a: addressesIn(content, "a2aAgents") };
}

function addressesIn(content: JsonValue, key: string): Record<string, string> {
  const entries = ownMember(content, key);
  const found: Record<string, string> = {};
  for (const [name, entry] of Object.entries(isJsonObject(entries) ? entries : {})) {
    const url = ownMember(entry, "url");
    if (typeof url === "string") found[name] = url;
  }
  return found;
}
