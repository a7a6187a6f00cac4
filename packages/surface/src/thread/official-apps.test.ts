import type { JsonObject, JsonValue } from "@countersign/core";
import schema from "@modelcontextprotocol/ext-apps/schema.json" with { type: "json" };
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { SurfaceFacts } from "../base/facts.js";
import { createSurfaceModel } from "./model.js";

const ajv = new Ajv2020({ strict: false }).addSchema(schema, "apps");
const accepts = (name: string, value: JsonValue): boolean =>
  ajv.validate(`apps#/$defs/${name}`, value);

const LISTS = ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"] as const;
const PERMISSIONS = ["camera", "microphone", "geolocation", "clipboardWrite"] as const;

const domain = fc.oneof(
  fc.constantFrom("https://api.example.org", "https://*.example.org", "wss://live.example.org"),
  fc.constantFrom("*", "'unsafe-eval'", "a.example; script-src *", "https://a.example%3B", ""),
  fc.string({ maxLength: 8 }),
);
const odd = fc.oneof(domain, fc.array(domain, { maxLength: 2 }), fc.constantFrom(null, 1, true));
const csp = fc.dictionary(
  fc.constantFrom(...LISTS, "scriptDomains", "__proto__", "other"),
  fc.oneof(
    { arbitrary: fc.array(domain, { maxLength: 3 }), weight: 4 },
    { arbitrary: odd, weight: 1 },
  ),
  { maxKeys: 4 },
) as fc.Arbitrary<JsonObject>;
const permissions = fc.dictionary(
  fc.constantFrom(...PERMISSIONS, "midi", "usb"),
  fc.oneof(
    { arbitrary: fc.constant({}), weight: 4 },
    { arbitrary: fc.constantFrom(null, true, { allow: "*" }), weight: 1 },
  ),
  { maxKeys: 3 },
) as fc.Arbitrary<JsonObject>;

/** Reads the page of an app with this `_meta.ui`, as the middleware sends it. */
function read(ui: JsonValue): SurfaceFacts {
  const contents = [
    { uri: "ui://maps/view", mimeType: "text/html;profile=mcp-app", text: "<p>", _meta: { ui } },
  ];
  return createSurfaceModel().apply({ kind: "resource", sourceId: "r", content: { contents } });
}

/** The texts in a value, at any depth. */
function textsIn(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}

test("what the official schema accepts has exactly the domains that it declares", () => {
  let accepted = 0;
  fc.assert(
    fc.property(csp, permissions, (domains, asked) => {
      const ui = { csp: domains, permissions: asked };
      const { components, problems } = read(ui);
      const urls = (components[0]?.urls ?? []).filter(({ path }) => path.startsWith("/_meta/"));
      // A refused form must not hide a domain from the rules: each text in it is one that no list has.
      for (const text of textsIn(domains)) {
        const isJudged = urls.some(
          ({ value }) => value === text || value.includes(JSON.stringify(text)),
        );
        expect([text, isJudged]).toEqual([text, true]);
      }
      expect(components[0]?.resolved).toMatchObject({ ui });
      if (!accepts("McpUiResourceMeta", ui)) return;
      accepted += 1;
      expect(problems.filter(({ isUndecided }) => isUndecided)).toEqual([]);
      expect(urls.map(({ value, path }) => [path, value])).toEqual(
        Object.entries(domains).flatMap(([name, list]) =>
          (list as string[]).map((value) => [`/_meta/ui/csp/${name}`, value]),
        ),
      );
    }),
    { numRuns: 400 },
  );
  expect(accepted).toBeGreaterThan(40);
});
