import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}

function exportsOf(path: string): string[] {
  return [...read(path).matchAll(/export (?:type )?\{([^}]*)\}/g)]
    .flatMap(([, names = ""]) => names.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "")
    .sort();
}

function titlesOf(path: string): string[] {
  return [...read(path).matchAll(/^test\("([^"]*)"/gm)].map(([, title = ""]) => title);
}

const OF_ONE_SIDE = /^(?:React|Svelte): /;
/** Svelte has stores of its own; React has no such thing. */
const EXTRA = new Set(["agentReadable"]);

test("both bindings export the same names", () => {
  const svelte = exportsOf("./index.ts").filter((name) => !EXTRA.has(name));
  expect(svelte).toEqual(exportsOf("../../react/src/index.ts"));
  expect(svelte).toContain("useAgent");
});

test("both bindings are tested for the same properties", () => {
  const shared = (path: string) => titlesOf(path).filter((title) => !OF_ONE_SIDE.test(title));
  const svelte = shared("./binding.test.ts");
  expect(svelte).toEqual(shared("../../react/src/binding.test.tsx"));
  expect(svelte.length).toBeGreaterThan(10);
});

test("a binding only binds: it imports the client and its framework, and reads no wire", () => {
  for (const path of ["./binding.ts", "../../react/src/binding.ts"]) {
    const sources = [...read(path).matchAll(/from "([^"]+)"/g)].map(([, source]) => source);
    expect(
      sources.every((source) =>
        /^(?:@countersign\/client|react|svelte(?:\/.*)?)$/.test(source ?? ""),
      ),
    ).toBe(true);
    expect(read(path)).not.toMatch(/payload|JSON\.parse|rawEvent/);
  }
});
