import { existsSync } from "node:fs";
import { readPublicKey } from "@countersign/capability";
import type { JsonObject, JsonValue } from "@countersign/core";
import { CountersignError, parseJson } from "@countersign/core";
import type { Ed25519Key } from "@countersign/core/sign";
import { importPrivateKey } from "@countersign/core/sign";
import { InvalidArgumentError } from "commander";
import { readText } from "../../files/read-file.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** Neither an option nor the environment names a private key. */
    ERR_CAPABILITY_NO_KEY: { option: string; variable: string };
    /** A token that names no principal was not asked for in words. */
    ERR_CAPABILITY_NO_PRINCIPAL: { option: string };
  }
}

/** Gathers an option that may be repeated. */
export const collect = (value: string, before: string[] | undefined): string[] => [
  ...(before ?? []),
  value,
];

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of `90s`, `15m`, `8h` or `7d`. */
export function parseDuration(text: string): number {
  const [, amount = "", unit = ""] = /^([1-9][0-9]{0,8})([smhd])$/.exec(text) ?? [];
  if (amount === "") throw new InvalidArgumentError("Write a time such as 90s, 15m, 8h or 7d.");
  return Number(amount) * (UNITS[unit] ?? 1);
}

/** A whole number from 1 up. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^[1-9][0-9]*$/.test(text) || !Number.isSafeInteger(count)) {
    throw new InvalidArgumentError("Write a whole number, 1 or more.");
  }
  return count;
}

/** A private key from a PEM file or from the environment, where it does not show in a process list. */
export function readPrivateKey(file: string | undefined, variable: string): Ed25519Key {
  const pem = file === undefined ? process.env[variable] : readText(file);
  if (pem !== undefined) return importPrivateKey(pem);
  throw new CountersignError(
    "ERR_CAPABILITY_NO_KEY",
    `no private key. Fix: add --key FILE, or set ${variable} to the PEM text; countersign keys new creates keys`,
    { option: "--key", variable },
  );
}

/** A public key as `ed25519:<hex>`, or from a file with PEM or a JWK. */
export function readKeyOption(text: string): Uint8Array {
  if (!existsSync(text)) return readPublicKey(text);
  const content = readText(text).trim();
  return readPublicKey(content.startsWith("{") ? (parseJson(content) as JsonObject) : content);
}

/** A token from the command line, or from standard input for `-`; Chio tokens are JSON. */
export function readTokenArgument(argument: string): JsonValue {
  return argument === "-" ? readText("-").trim() : argument;
}

/** Seconds since the epoch. */
export function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
