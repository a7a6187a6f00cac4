import type { JsonObject, JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import { createContentReader } from "./reader.js";
import type { ContentSettings } from "./settings.js";
import { settingsOf } from "./testing/settings-of.js";

const result = (...content: JsonValue[]): JsonObject => ({
  type: "TOOL_CALL_RESULT",
  messageId: "m",
  toolCallId: "c",
  content,
});
const media = (type: string, value: string): JsonObject => ({
  type,
  source: { type: "url", value },
});

function kindOf(part: JsonObject, settings: Partial<ContentSettings> = {}): string | undefined {
  // The result does not depend on whether texts of tools are read.
  return createContentReader(settingsOf({ parts: new Set(["text"]), ...settings })).read(
    result({ type: "text", text: "fine" }, part),
  )?.kind;
}

const KINDS = ["image", "audio", "video", "document"];

test.each(KINDS)(
  "a part of type %s with its own bytes, or of the page's own host, passes",
  (type) => {
    for (const value of ["/files/a", "a/b.png", "data:image/png;base64,AA==", "?x=1"]) {
      expect(kindOf(media(type, value))).toBeUndefined();
    }
    const data = { type, source: { type: "data", value: "AA==", mimeType: "image/png" } };
    expect(kindOf(data)).toBeUndefined();
    expect(kindOf({ type, source: { type: "file", value: "file-1" } })).toBeUndefined();
  },
);

test.each([
  "https://other.example/a?d=1",
  "//other.example/a",
  "\\\\other.example/a",
  "ht\ntps://other.example/",
])("what a page loads from %j is judged as an image of another host", (value) => {
  for (const type of ["image", "audio", "video"]) {
    expect(kindOf(media(type, value), { sources: false })).toBe("images");
    const listed = /[\\\s]/.test(value) ? "sources" : undefined;
    expect(kindOf(media(type, value), { imageHosts: ["other.example"] })).toBe(listed);
    expect(kindOf(media(type, value), { images: false, sources: false })).toBeUndefined();
  }
});

test("a document of another host waits for a click, and passes", () => {
  expect(kindOf(media("document", "https://other.example/a.pdf"))).toBeUndefined();
});

test.each([
  "http://169.254.169.254/",
  "http://localhost/",
  "http://router.lan/",
  "https://a@b.example/",
])("a part at %s has no public address", (value) => {
  for (const type of KINDS) expect(kindOf(media(type, value))).toBe("sources");
});

test.each(["javascript:alert(1)", "file:///etc/passwd", "blob:https://x.example/1"])(
  "a part at %s is refused also where sources are allowed",
  (value) => {
    for (const type of KINDS) expect(kindOf(media(type, value), { sources: false })).toBe("links");
  },
);

test("a block names the part by its pointer", () => {
  const reader = createContentReader(settingsOf({ parts: new Set(["text"]) }));
  const part = media("image", "https://other.example/");
  expect(reader.read(result({ type: "text", text: "fine" }, part))).toEqual({
    kind: "images",
    part: "/content/1/source/value",
  });
});

test("an address that programs normalize in different ways is found in every part", () => {
  for (const type of KINDS) {
    for (const value of [
      "http://a.com\\@10.0.0.1/",
      "https://a.com\\@169.254.169.254/latest",
      "http:a.com",
      "https:/a.com",
      "\\\\vault\\x",
      "/\t/vault/",
    ]) {
      expect(kindOf(media(type, value))).toBe("sources");
    }
  }
});
