import { parseUrl } from "@countersign/core";
import { InvalidArgumentError } from "commander";

/** Adds one "Name: value" line to the headers given before. */
export function collectHeader(
  line: string,
  before: Record<string, string> = {},
): Record<string, string> {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+)\s*:\s*(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('Write it as "Name: value".');
  }
  return { ...before, [name]: value };
}

/** Reads a port; 0 stands for a free one. */
export function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port < 0 || port > 65_535) {
    throw new InvalidArgumentError("Write a port: a number from 0 to 65535.");
  }
  return port;
}

/** Reads the address of an agent: HTTP or WebSocket. */
export function readAddress(text: string): string {
  if (!/^(?:https?|wss?):$/.test(parseUrl(text)?.protocol ?? "")) {
    throw new InvalidArgumentError("Write an address such as http://127.0.0.1:8000/agent.");
  }
  return text;
}

/** Reads an address of HTTP. */
export function readWebAddress(text: string): string {
  if (!/^https?:/i.test(readAddress(text))) {
    throw new InvalidArgumentError("Write an address that begins with http:// or https://.");
  }
  return text;
}
