import { isCountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import { loadConfig } from "./load.js";

const load = (header: string, environment: Record<string, string> = {}) => {
  const text = `agents:\n  a:\n    url: http://h/\n    headers:\n      ${header}\n`;
  return loadConfig(text, { file: "c.yaml", environment });
};

test.each([
  ['X-Key: "a\\r\\nHost: b"', /c\.yaml:5:14: the value of X-Key has a line break in it/],
  ['X-Key: "a\\n"', /5:14: the value of X-Key ends in a line break; remove it where/],
  ['"X Key": a', /5:16: this is not a valid header name; use letters, digits and hyphens/],
  ['"": a', /this is not a valid header name/],
  ['"X/Key": a', /5:16: this is not a valid header name/],
  ['"X-Key\\n": a', /this is not a valid header name/],
  ["X-Key: ключ", /5:14: the value of X-Key has characters that no header can carry; encode/],
  ['X-Key: "a\\0b"', /characters that no header can carry/],
  ['X-Key: "a\\x7fb"', /characters that no header can carry/],
  ["Transfer-Encoding: chunked", /5:26: the gateway sets Transfer-Encoding itself; remove it/],
  ["connection: close", /the gateway sets connection itself/],
  ['Content-Length: "5"', /the gateway sets Content-Length itself/],
  ["HOST: other.example", /the gateway sets HOST itself/],
  ["Upgrade: h2c", /the gateway sets Upgrade itself/],
  ["Sec-WebSocket-Key: a", /the gateway sets Sec-WebSocket-Key itself/],
])("the header %j is refused at load, with its position and a fix", (header, message) => {
  const failure = (() => {
    try {
      return load(header);
    } catch (error) {
      return error;
    }
  })();
  expect(isCountersignError(failure, "ERR_CONFIG_INVALID")).toBe(true);
  expect(String(failure)).toMatch(message);
});

test("a value from the environment that ends in a line break is refused without being shown", () => {
  const broken = () => load('Authorization: "Bearer ${TOKEN}"', { TOKEN: "s3cret\n" });
  expect(broken).toThrow(/c\.yaml:5:22: the value of Authorization ends in a line break/);
  expect(broken).not.toThrow(/s3cret/);
});

test("the headers of the trace collector are checked as well", () => {
  const text = `agents: { a: { url: "http://h/" } }\ntracing:\n  endpoint: http://t/\n  headers: { "a b": c }\n`;
  expect(() => loadConfig(text, { file: "c.yaml", environment: {} })).toThrow(
    /c\.yaml:4:\d+: this is not a valid/,
  );
});

test("valid header values load: tabs and Latin-1 letters", () => {
  const headers = load('{ X-A: "a\\tb", X-B: "Jürgen" }').agents[0]?.headers;
  expect(headers).toEqual({ "x-a": "a\tb", "x-b": "Jürgen" });
});
