import { expect, test } from "vitest";
import { startChat } from "./serve.mjs";

async function begin(PORT: string, further: Record<string, string> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const chat = await startChat({
    folder: import.meta.dirname,
    environment: { PORT, ...further },
    out: (line) => out.push(line),
    err: (line) => err.push(line),
  });
  return { chat, out, err };
}

test("a port that is taken is told in one line", async () => {
  const { chat, out } = await begin("0");
  expect(out).toEqual([`chat with the example agent: ${chat?.url}`]);
  const { port } = new URL(chat?.url ?? "");
  expect(await begin(port)).toEqual({
    chat: undefined,
    out: [],
    err: [`port ${port} is taken; choose another with PORT`],
  });
  await chat?.close();
});

test.each(["", "abc", "65536"])("PORT=%s is told in one line", async (port) => {
  const { chat, err } = await begin(port);
  expect(chat).toBeUndefined();
  expect(err).toEqual([`PORT must be a number from 0 to 65535, not "${port}"`]);
});

test("a page may call only the gateway that it was started with", async () => {
  const { chat } = await begin("0", { GATEWAY: "http://127.0.0.1:8080/agents/main" });
  const { headers } = await fetch(`${chat?.url}chat.css`);
  expect(headers.get("content-security-policy")).toContain(
    "connect-src 'self' http://127.0.0.1:8080 ws://127.0.0.1:8080;",
  );
  await chat?.close();
  for (const wrong of ["", "127.0.0.1:8080", "javascript:1", "http://"]) {
    const { err } = await begin("0", { GATEWAY: wrong });
    expect(err).toEqual([`GATEWAY must be the address of a gateway, not "${wrong}"`]);
  }
});

test("a path that is not a file of the page gives 404, and the server keeps running", async () => {
  const { chat } = await begin("0");
  const ask = async (path: string): Promise<number> => (await fetch(`${chat?.url}${path}`)).status;
  for (const path of [
    "/",
    "%",
    "%00",
    "%2e%2e%2fpackage.json",
    "%2e%2e/",
    "..%2f..%2f",
    "missing.js",
  ]) {
    expect(await ask(path)).toBe(404);
  }
  const answer = await fetch(`${chat?.url}chat.css`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'self'");
  await answer.text();
  await chat?.close();
});
