import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";
import { chromium } from "playwright-core";

/** Debian's browser; nothing is ever downloaded for a test. */
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The path of a browser for tests, or `undefined` when this machine has none. */
export function findBrowser(): string | undefined {
  return CHROMIUM.find((path) => existsSync(path));
}

/** Starts the system's Chromium without a window. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error("no Chromium: apt-get install chromium");
  return chromium.launch({ executablePath, args: FLAGS });
}
