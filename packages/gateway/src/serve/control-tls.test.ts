import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import type { RequestOptions } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { selfSigned } from "../testing/self-signed.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";

let folder: string;
let served: Served;
const at = (name: string): string => join(folder, name);
const openssl = (...args: string[]): Buffer =>
  execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
const EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

function makeAuthority(name: string): void {
  openssl(
    "req",
    "-x509",
    ...EC,
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.pem`,
    "-days",
    "1",
    "-subj",
    `/CN=${name}`,
  );
}
function makeClient(authority: string, file: string, subject: string): void {
  openssl("req", "-new", ...EC, "-keyout", `${file}.key`, "-out", `${file}.csr`, "-subj", subject);
  openssl(
    "x509",
    "-req",
    "-in",
    `${file}.csr`,
    "-CA",
    `${authority}.pem`,
    "-CAkey",
    `${authority}.key`,
    "-CAcreateserial",
    "-out",
    `${file}.pem`,
    "-days",
    "1",
  );
}
function writeServer(): void {
  const { cert, key } = selfSigned();
  writeFileSync(at("server.pem"), cert);
  writeFileSync(at("server.key"), key);
}

const tlsBlock = (more = ""): string =>
  `host: 127.0.0.1\ntls: { cert: ${at("server.pem")}, key: ${at("server.key")}, client_ca: ${at("staff.pem")} }\n` +
  `mtls: { operators: { carol: admin, dave: viewer }${more} }\n`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "countersign-control-tls-"));
  writeServer();
  makeAuthority("staff");
  makeAuthority("strangers");
  makeClient("staff", "carol", "/CN=carol");
  makeClient("staff", "dave", "/CN=dave");
  makeClient("staff", "erin", "/CN=erin");
  makeClient("staff", "two", "/CN=dave/CN=carol");
  makeClient("strangers", "imposter", "/CN=carol");
  served = await startServed(() => ({ pieces: [] }), { control: tlsBlock() });
});
afterAll(async () => {
  await served.stop();
  rmSync(folder, { recursive: true });
});

const identity = (name: string): RequestOptions => ({
  cert: readFileSync(at(`${name}.pem`)),
  key: readFileSync(at(`${name}.key`)),
});

/** Certificates of the server are compared by content: the test signs its own. */
function ask(path: string, options: RequestOptions = {}, url = served.running.controlUrl) {
  return new Promise<{
    status: number;
    body: Record<string, unknown>;
    cookie: string;
    serial: string;
  }>((resolve, reject) => {
    const asked = request(
      url + path,
      { rejectUnauthorized: false, agent: false, ...options },
      (response) => {
        const { serialNumber: serial } = (response.socket as TLSSocket).getPeerCertificate();
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            body: text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {},
            cookie: response.headers["set-cookie"]?.join() ?? "",
            serial,
          }),
        );
      },
    );
    asked.once("error", reject);
    asked.end(options.method === "POST" ? (options as { body?: string }).body : undefined);
  });
}

test("the control plane has TLS, and its cookies say so", async () => {
  expect(served.running.controlUrl).toMatch(/^https:/u);
  const body = JSON.stringify({ token: served.adminToken });
  const { cookie } = await ask("/v1/login", { method: "POST", body } as RequestOptions);
  expect(cookie).toMatch(
    /^__Host-countersign-session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/u,
  );
});

test("the subject of a client certificate has the configured role, and no other subject has one", async () => {
  expect((await ask("/v1/me", identity("carol"))).body).toEqual({
    operator: "mtls:carol",
    role: "admin",
    method: "mtls",
  });
  expect((await ask("/v1/me", identity("dave"))).body).toMatchObject({ role: "viewer" });
  const reload = { method: "POST", ...identity("dave") };
  expect((await ask("/v1/policy/reload", reload)).body).toMatchObject({ code: "ERR_CONTROL_ROLE" });
  for (const name of ["erin", "two", "imposter"])
    expect([name, (await ask("/v1/me", identity(name))).status]).toEqual([name, 401]);
  expect((await ask("/v1/me")).status).toBe(401);
  const headers = { authorization: `Bearer ${served.adminToken}` };
  expect((await ask("/v1/me", { headers })).status).toBe(200);
});

test("a page of another origin cannot use the certificate that a browser adds", async () => {
  const reload = (headers: Record<string, string>): RequestOptions => ({
    method: "POST",
    headers,
    ...identity("carol"),
  });
  const { host } = new URL(served.running.controlUrl);
  const own = `https://${host}`;
  expect((await ask("/v1/policy/reload", reload({ origin: own }))).status).toBe(200);
  for (const origin of ["https://evil.example", `http://${host}`])
    expect((await ask("/v1/policy/reload", reload({ origin }))).status).toBe(403);
});

test("with mtls.required a connection without a valid certificate gets no response", async () => {
  const strict = await startServed(() => ({ pieces: [] }), {
    control: tlsBlock(", required: true"),
  });
  const url = strict.running.controlUrl;
  try {
    expect((await ask("/v1/me", identity("carol"), url)).status).toBe(200);
    await expect(ask("/v1/login", {}, url)).rejects.toThrow();
    await expect(ask("/v1/login", identity("imposter"), url)).rejects.toThrow();
  } finally {
    await strict.stop();
  }
});

test("a renewed certificate and another authority apply without a restart; invalid files change nothing", async () => {
  const before = await ask("/v1/login");
  const until = async (text: string): Promise<void> => {
    while (!served.lines.some((line) => String(line["msg"]).startsWith(text)))
      await new Promise((resolve) => setTimeout(resolve, 50));
  };
  writeFileSync(at("server.pem"), "not a certificate");
  await until("the certificate could not be reloaded");
  expect((await ask("/v1/login")).serial).toBe(before.serial);
  writeServer();
  copyFileSync(at("strangers.pem"), at("staff.pem"));
  await until("certificate reloaded");
  expect((await ask("/v1/login")).serial).not.toBe(before.serial);
  expect((await ask("/v1/me", identity("carol"))).status).toBe(401);
  expect((await ask("/v1/me", identity("imposter"))).body).toMatchObject({
    operator: "mtls:carol",
  });
});
