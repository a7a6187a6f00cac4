import type { JsonObject } from "@countersign/core";
import { expect, test } from "vitest";
import { settingsOf } from "../testing/content-settings.js";
import { createContentReader } from "./reader.js";

const SETTINGS = settingsOf({ maxCharacters: 1000 });
const text = (messageId: string, delta: string): JsonObject => ({
  type: "TEXT_MESSAGE_CONTENT",
  messageId,
  delta,
});

test("messages that are streamed side by side are read apart", () => {
  const reader = createContentReader(SETTINGS);
  const read = reader.read.bind(reader);
  expect(read(text("a", "![x]("))).toBeNull();
  expect(read(text("b", "https://one.example/"))).toBeNull();
  expect(read(text("a", "https://two.example/"))?.kind).toBe("images");
});

test("what a message said before the stream counts", () => {
  const reader = createContentReader(SETTINGS, (id) => (id === "a" ? "![x](" : undefined));
  const read = reader.read.bind(reader);
  expect(read(text("b", "https://one.example/"))).toBeNull();
  expect(read(text("a", "https://two.example/"))?.kind).toBe("images");
});

test("events without text are nothing to read", () => {
  const reader = createContentReader(SETTINGS);
  const read = reader.read.bind(reader);
  for (const event of [
    {},
    { type: "TEXT_MESSAGE_START", messageId: "a" },
    { type: "TEXT_MESSAGE_CHUNK", messageId: "a" },
    { type: "RUN_ERROR" },
    { type: "TOOL_CALL_RESULT", content: "<script>" },
    { type: "CUSTOM", name: "x", value: "<script>" },
  ]) {
    expect(read(event)).toBeNull();
  }
});

test("ten thousand messages are kept apart, and one more ends the stream", () => {
  const reader = createContentReader(SETTINGS);
  const read = reader.read.bind(reader);
  for (let count = 0; count < 10_000; count += 1) read(text(`m${count}`, "x"));
  expect(read(text("m1", "y"))).toBeNull();
  expect(() => read(text("one more", "x"))).toThrow("maxReadMessages");
});
