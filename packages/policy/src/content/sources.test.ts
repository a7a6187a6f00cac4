import * as fc from "fast-check";
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

const KIND = (value: string): string | undefined => sourceAddressOf(source(value))?.kind;

test("an address that programs normalize in different ways counts as internal", () => {
  const mended = [
    "http:a.com",
    "http:/a.com",
    "http:///a.com",
    "https:\\\\a.com",
    "http:\\/a.com\\@10.0.0.1/",
    "http://a..com/",
    "http://.a.com/",
    "http://a.com../",
    "http://a.com:80\\@vault/",
    "http://a%2ecom/",
    "http://:@a.com/",
    " https://a.com/",
    "https://a.com/\n",
    "https://a.com#@10.0.0.1/",
    "https://a.com?@10.0.0.1/",
    "https://a.com?@b.com",
    "https://a.com:80#x@vault",
    "https://a.com/?x@10.0.0.1",
    "https://a.com/@localhost/x",
    "https://a.com/x#@[::1]:80/",
    "https://a.com/@vault.internal:8200",
  ];
  expect(mended.filter((value) => KIND(value) !== "inside")).toEqual([]);
  const sign = fc.constantFrom("\\", "\t", "\n", "\r", " ", "\u0000", "\u00A0", "\u200B", "\u2028");
  const tail = fc.constantFrom("", "@10.0.0.1/", "@vault/", "@169.254.169.254/latest");
  fc.assert(
    fc.property(sign, tail, fc.nat(24), (one, rest, at) => {
      const value = "https://a.com:80/path?q#f";
      expect(KIND(value.slice(0, at) + one + rest + value.slice(at))).toBe("inside");
    }),
  );
});

test("an address as people write it is a name", () => {
  for (const value of [
    "https://a.com",
    "HTTPS://A.com:8443/x@y?z=a@b#c",
    "https://cdn.example/npm/emoji@10.0.0/1.png",
    "https://blog.example/@ann/a.png?by=ann@mail.example",
    "https://a.com?x=1#y",
    "http://a-b.c.example./%20a/b%5Cc",
    "https://b\u00FCcher.example/\u65E5",
  ]) {
    expect(KIND(value)).toBe("name");
  }
});
