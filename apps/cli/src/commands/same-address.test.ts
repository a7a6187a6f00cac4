import { expect, test } from "vitest";
import { namesOfOneAddress } from "./check-serve.js";

const agents = (...urls: string[]) =>
  urls.map((url, index) => ({ name: `a${index}`, url: new URL(url) }));

test.each([
  ["the very same", ["http://agent/chat", "http://agent/chat"]],
  ["another transport", ["http://agent/chat", "ws://agent/chat"]],
  ["a slash at the end", ["https://agent/chat", "https://agent/chat/"]],
  ["the port that is meant anyway", ["https://agent/chat", "wss://agent:443/chat"]],
  ["a credential", ["http://u:p@agent/chat", "http://agent/chat"]],
  ["names of this machine", ["http://localhost:8000/", "http://127.0.0.1:8000/"]],
])("agents differ by no more than %s: they have one address", (_, urls) => {
  expect(namesOfOneAddress(agents(...urls))).toEqual([["a0", "a1"]]);
});

test.each([
  [["http://agent/chat", "http://agent/sales"]],
  [["http://agent/chat", "https://agent/chat"]],
  [["http://agent:8000/", "http://agent:8001/"]],
  [["http://agent/?id=1", "http://agent/?id=2"]],
  [["http://a.example/", "http://b.example/"]],
])("%j are two addresses", (urls) => {
  expect(namesOfOneAddress(agents(...urls))).toEqual([]);
});
