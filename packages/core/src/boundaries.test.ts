import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SOURCE = dirname(fileURLToPath(import.meta.url));

/** Every file and package that a module imports when the `node` condition does not apply. */
function reached(entry: string, seen = new Set<string>()): Set<string> {
  if (seen.has(entry)) return seen;
  seen.add(entry);
  const code = readFileSync(resolve(SOURCE, entry), "utf8");
  for (const [, target = ""] of code.matchAll(/^(?:import|export)(?:[^;"]* from)? "([^"]+)";$/gm)) {
    if (target === "#sha256") reached("bytes/sha256-portable.ts", seen);
    else if (target.startsWith(".")) {
      const file = resolve(SOURCE, dirname(entry), target).slice(SOURCE.length + 1);
      reached(file.replace(/\.js$/, ".ts"), seen);
    } else seen.add(target);
  }
  return seen;
}

test.each([
  "index.ts",
  "cel/index.ts",
  "json/index.ts",
  "report/writers.ts",
  "ed25519/sign-webcrypto.ts",
  "ed25519/verify-webcrypto.ts",
])("%s reaches no Node module outside Node", (entry) => {
  expect([...reached(entry)].filter((name) => name.startsWith("node:"))).toEqual([]);
});

test.each(["ed25519/verify-node.ts", "ed25519/verify-webcrypto.ts"])(
  "%s reaches no signing code",
  (entry) => {
    const names = [...reached(entry)];
    expect(names).toContain("ed25519/strictness.ts");
    expect(names.filter((name) => name.includes("/sign"))).toEqual([]);
  },
);
