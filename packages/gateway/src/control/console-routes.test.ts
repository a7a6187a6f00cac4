import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Hono } from "hono";
import type { ControlApp, ControlEnv } from "./control-env.js";
import { afterAll, expect, test } from "vitest";
import { readConsoleFiles } from "./console-files.js";
import { addConsoleRoutes } from "./console-routes.js";

const folder = mkdtempSync(join(tmpdir(), "countersign-console-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, "page", "assets"), { recursive: true });
writeFileSync(join(folder, "secret.js"), "secret");
writeFileSync(join(folder, "page", "index.html"), "<!doctype html>");
writeFileSync(join(folder, "page", "assets", "main-abc.js"), "1");
writeFileSync(join(folder, "page", "notes.txt"), "not for browsers");
symlinkSync(join(folder, "secret.js"), join(folder, "page", "assets", "link.js"));

function consoleApp(): ControlApp {
  const app = new Hono<ControlEnv>();
  const files = readConsoleFiles(join(folder, "page"));
  if (files === undefined) throw new Error("the page is there");
  addConsoleRoutes(app, files);
  app.use("*", async (context) => context.text("needs the token", 401));
  return app;
}

test("the page runs only its own files, is not cached, and cannot be framed", async () => {
  const app = consoleApp();
  for (const path of ["/console", "/console/", "/console/index.html"]) {
    const answer = await app.request(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answer.headers.get("cache-control")).toBe("no-store");
  }
  const script = await app.request("/console/assets/main-abc.js");
  expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(script.headers.get("content-type")).toMatch(/^text\/javascript/u);
});

test("only files that existed at the start are served, and no path leaves the folder", async () => {
  const app = consoleApp();
  writeFileSync(join(folder, "page", "assets", "later.js"), "later");
  for (const path of [
    "/console/assets/later.js",
    "/console/assets/link.js",
    "/console/notes.txt",
    "/console/../secret.js",
    "/console/%2e%2e/secret.js",
    "/console/assets/..%2f..%2fsecret.js",
    "/console//secret.js",
    "/console/__proto__",
    "/console/assets",
  ]) {
    const { status } = await app.request(path);
    expect([path, status >= 400]).toEqual([path, true]);
  }
});

test("a folder without a page, or a missing folder, has no console", () => {
  expect(readConsoleFiles(join(folder, "page", "assets"))).toBeUndefined();
  expect(readConsoleFiles(join(folder, "nowhere"))).toBeUndefined();
});
