import { expect, test } from "vitest";
import { sourceAddressOf, sourceHostsOf } from "./sources.js";

const source = (value: string): { type: string; value: string } => ({ type: "url", value });

test("an address with letters beyond ASCII is read alike, however many were read before it", () => {
  const kinds = Array.from({ length: 10_000 }, () =>
    JSON.stringify(sourceAddressOf(source("https://b\u00FCcher.example/"))),
  );
  expect([...new Set(kinds)]).toEqual(['{"kind":"name","host":"xn--bcher-kva.example"}']);
});

test("the hosts of a request are those of its own parts with a public name, each once", () => {
  const parts = ["https://a.example/1", "https://A.example./2", "https://vault/", "data:,x"];
  const content = parts.map((value) => ({ type: "image", source: source(value) }));
  const messages = [
    { role: "user", content },
    { role: "assistant", content: [{ source: source("https://b.example/") }] },
    { role: "user", content: "https://c.example/" },
  ];
  expect([...sourceHostsOf({ messages })]).toEqual(["a.example"]);
  expect([...sourceHostsOf({})]).toEqual([]);
});
