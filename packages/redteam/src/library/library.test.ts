import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createAddressBook,
  createHardenedAgent,
  createVulnerableAgent,
  serveAgent,
} from "../agents/index.js";
import type { RunningAgent } from "../agents/index.js";
import { probeTarget } from "../runner/probe.js";
import { runDocument } from "../runner/run-document.js";
import { librarySources, loadSources } from "./library.js";

const documents = loadSources(librarySources());
const servers = createAddressBook();
let vulnerable: RunningAgent;
let hardened: RunningAgent;

beforeAll(async () => {
  vulnerable = await serveAgent(createVulnerableAgent(servers));
  hardened = await serveAgent(createHardenedAgent(servers));
});

afterAll(async () => {
  await vulnerable.close();
  await hardened.close();
});

test("the library holds at least forty documents, each with its own id and name", () => {
  const ids = documents.map((loaded) => (loaded.ok ? loaded.document.attack.id : loaded.name));
  expect(new Set(ids).size).toBe(documents.length);
  expect(documents.length).toBeGreaterThanOrEqual(40);
});

test("both agents answer a harmless request", async () => {
  for (const { url } of [vulnerable, hardened]) {
    expect(await probeTarget({ target: url })).toEqual({ answers: true });
  }
});

describe.each(documents)("$name", (loaded) => {
  if (!loaded.ok) throw new Error(`${loaded.name}: ${JSON.stringify(loaded.problems)}`);
  const { document, warnings } = loaded;

  test("is valid, looks at the answers only, and names severity, tier and both catalogues with their year", () => {
    expect(warnings.filter(({ code }) => !code.startsWith("CS-001"))).toEqual([]);
    const mappings = document.attack.classification?.mappings ?? [];
    expect(mappings.some(({ framework }) => framework.startsWith("owasp_"))).toBe(true);
    expect(mappings.some(({ framework }) => framework === "atlas")).toBe(true);
    for (const { id } of mappings) expect(id).toMatch(/:20\d\d$/);
    expect(document.attack.severity).toBeDefined();
    for (const indicator of document.attack.indicators ?? []) {
      expect(indicator.direction).toBe(indicator.protocol === "ag_ui" ? "response" : "request");
      expect(indicator.tier).toBeDefined();
    }
  });

  test("is exploited on the vulnerable agent", async () => {
    const result = await runDocument(document, {
      target: vulnerable.url,
      refusalsCount: true,
      servers,
    });
    expect([result.outcome, result.reason]).toEqual(["exploited", undefined]);
  });

  test("is not exploited on the hardened agent", async () => {
    const result = await runDocument(document, {
      target: hardened.url,
      refusalsCount: true,
      servers,
    });
    expect([result.outcome, result.reason]).toEqual(["not_exploited", undefined]);
  });
});
