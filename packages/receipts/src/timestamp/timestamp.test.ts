import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSigner } from "@countersign/core/sign";
import { expect, test } from "vitest";
import { decodeAttestations } from "../checkpoint/attestations.js";
import { parseNote } from "../note/note.js";
import { createNoteKey } from "../note/vkey.js";
import { openSqliteStore } from "../sqlite/open-sqlite-store.js";
import { fill, logOver, noteKey, ORIGIN } from "../testing/contract-log.js";
import { withDirectory } from "../testing/directory.js";
import { listenAt } from "../testing/running-witness.js";
import { openssl, startAuthority } from "../testing/timestamp-authority.js";
import { requestTimestamp } from "./request-timestamp.js";
import { Timestamping } from "./timestamping.js";
import { parseTrustAnchors, verifyTimestamp } from "./verify-timestamp.js";

const TEXT = "log.example/dated\n8\nXcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=\n";
const never = new AbortController().signal;

async function folderIn(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder);
  return folder;
}

test("checkpoints of a growing log are dated by a real authority, and openssl verifies what is stored", async () => {
  await withDirectory(async (folder) => {
    const authority = await startAuthority(await folderIn(folder, "tsa"));
    const store = await openSqliteStore({ directory: join(folder, "log") });
    const log = await logOver(store);
    const reports: (string | undefined)[] = [];
    let now = Date.now();
    const service = new Timestamping({
      store,
      logKey: createNoteKey(ORIGIN, createSigner(noteKey).publicKey),
      authority: { url: authority.url, anchors: parseTrustAnchors(authority.ca), timeoutMs: 5000 },
      intervalMs: 60_000,
      holder: "gateway-1",
      clock: () => now,
      onReport: (reason) => reports.push(reason),
    });
    await fill(log, 5);
    await log.checkpoint();
    await service.run();
    await fill(log, 5, 5);
    await log.checkpoint();
    await service.run();
    expect([service.newest?.size, authority.requests()]).toEqual([5, 1]);
    now += 61_000;
    await service.run();
    expect([service.newest?.size, authority.requests(), reports]).toEqual([10, 2, []]);
    const { timestamped } = decodeAttestations(await store.readAttestations());
    await writeFile(join(folder, "checkpoint.txt"), parseNote(timestamped?.checkpoint ?? "").text);
    await writeFile(join(folder, "checkpoint.tsr"), timestamped?.response ?? "");
    const verified = await openssl(
      ["ts", "-verify", "-data", join(folder, "checkpoint.txt")],
      ["-in", join(folder, "checkpoint.tsr"), "-CAfile", authority.caFile],
    );
    expect(verified).toContain("Verification: OK");
    await authority.close();
    await fill(log, 1, 10);
    await log.checkpoint();
    now += 61_000;
    await service.run();
    expect(service.failures).toBe(1);
    expect(reports[0]).toContain("ECONNREFUSED");
    expect(service.newest?.size).toBe(10);
    await service.close();
    await log.close();
  });
});

test("RSA and P-384 authorities hold; another text, nonce, root or purpose, and every changed byte, do not", async () => {
  await withDirectory(async (folder) => {
    for (const kind of [["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"]]) {
      const own = await folderIn(folder, `tsa-${kind[0]?.slice(0, 2)}`);
      const authority = await startAuthority(own, undefined, kind);
      const anchors = parseTrustAnchors(authority.ca);
      const at = { url: authority.url, anchors, timeoutMs: 5000 };
      const { response, timestamp } = await requestTimestamp(at, TEXT, never);
      expect(Math.abs(timestamp.time - Date.now())).toBeLessThan(120_000);
      expect(timestamp.authority).toBe("CN=Test authority");
      await authority.close();
      await expect(verifyTimestamp(response, `${TEXT}x\n`, anchors)).rejects.toMatchObject({
        facts: { reason: "it is for another checkpoint" },
      });
      await expect(
        verifyTimestamp(response, TEXT, anchors, new Uint8Array([1])),
      ).rejects.toMatchObject({ code: "ERR_TIMESTAMP" });
      const stranger = await startAuthority(await folderIn(own, "stranger"));
      await stranger.close();
      await expect(
        verifyTimestamp(response, TEXT, parseTrustAnchors(stranger.ca)),
      ).rejects.toMatchObject({ code: "ERR_TIMESTAMP" });
      // A changed byte may hit what no signature covers, such as the free text of the status, but never gives
      // another time or another checkpoint.
      const results: unknown[] = [];
      for (let byte = 0; byte < response.length; byte += 11) {
        const changed = new Uint8Array(response);
        changed[byte] = (changed[byte] ?? 0) ^ 1;
        results.push(await verifyTimestamp(changed, TEXT, anchors).catch(() => undefined));
      }
      const accepted = results.filter((result) => result !== undefined);
      expect(accepted).toEqual(accepted.map(() => timestamp));
      expect(accepted.length).toBeLessThan(results.length / 2);
    }
  });
});

test("a true time that another certificate of the same root signed is refused: wrong purpose, or not named in the signature", async () => {
  await withDirectory(async (folder) => {
    const authority = await startAuthority(folder);
    const anchors = parseTrustAnchors(authority.ca);
    const at = { url: authority.url, anchors, timeoutMs: 5000 };
    const file = (name: string): string => join(folder, name);
    await openssl(
      ["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=Web server"],
      ["-keyout", file("web.key"), "-out", file("web.csr")],
    );
    await writeFile(file("web.ext"), "extendedKeyUsage=critical,timeStamping,serverAuth\n");
    await openssl(
      ["x509", "-req", "-in", file("web.csr"), "-CA", file("ca.pem"), "-CAkey", file("ca.key")],
      ["-days", "30", "-extfile", file("web.ext"), "-out", file("web.pem")],
    );
    const { response } = await requestTimestamp(at, TEXT, never);
    await authority.close();
    await writeFile(file("true.tsr"), response);
    await openssl(["ts", "-reply", "-in", file("true.tsr")], ["-token_out", "-out", file("token")]);
    await openssl(
      ["cms", "-verify", "-noverify", "-inform", "DER", "-in", file("token")],
      ["-out", file("info")],
    );
    const signedBy = async (name: string, ...more: string[]): Promise<Uint8Array> => {
      await openssl(
        ["cms", "-sign", "-binary", "-nodetach", "-in", file("info"), "-outform", "DER"],
        ["-econtent_type", "1.2.840.113549.1.9.16.1.4", "-md", "sha256", ...more],
        ["-signer", file(`${name}.pem`), "-inkey", file(`${name}.key`), "-out", file("other")],
      );
      const token = await readFile(file("other"));
      // TimeStampResp: SEQUENCE { SEQUENCE { INTEGER 0 }, token }, with a length of two bytes.
      const length = token.length + 5;
      return Buffer.concat([
        Buffer.from([0x30, 0x82, length >> 8, length & 255, 0x30, 3, 2, 1, 0]),
        token,
      ]);
    };
    await verifyTimestamp(await signedBy("tsa", "-cades"), TEXT, anchors);
    await expect(verifyTimestamp(await signedBy("tsa"), TEXT, anchors)).rejects.toMatchObject({
      facts: { reason: "its signature names no certificate" },
    });
    await expect(
      verifyTimestamp(await signedBy("web", "-cades"), TEXT, anchors),
    ).rejects.toMatchObject({ facts: { reason: "its certificate is not for timestamps" } });
  });
});

test.each([
  [{ digest: "sha1" }, "its signature is not over a SHA-2 hash"],
  [
    { extension: "1.2.3.4=critical,DER:0500" },
    "a certificate has a critical extension that is not known",
  ],
  [{ extension: "1.2.3.4=DER:0500" }, undefined],
])("an authority with %o: %s", async (more, reason) => {
  await withDirectory(async (folder) => {
    const authority = await startAuthority(folder, undefined, undefined, more);
    const { url, ca } = authority;
    const at = { url, anchors: parseTrustAnchors(ca), timeoutMs: 5000 };
    const asked = await requestTimestamp(at, TEXT, never).catch((error: unknown) => error);
    await authority.close();
    expect(asked).toMatchObject(reason === undefined ? { timestamp: {} } : { facts: { reason } });
  });
});

test("an authority that cannot sign, a refusal, a slow and an endless response are refused", async () => {
  await withDirectory(async (folder) => {
    const wrong = await startAuthority(await folderIn(folder, "wrong"), "timeStamping,serverAuth");
    const anchors = parseTrustAnchors(wrong.ca);
    const reasonOf = async (url: string): Promise<string> => {
      const at = { url, anchors, timeoutMs: 300 };
      const failure: unknown = await requestTimestamp(at, TEXT, never).catch((error) => error);
      return failure instanceof Error ? failure.message : "accepted";
    };
    expect(await reasonOf(wrong.url)).toContain("status 500");
    await wrong.close();
    const slow = await listenAt(() => undefined);
    expect(await reasonOf(slow.url)).toContain("no response within 300 ms");
    await slow.close();
    const endless = await listenAt((_, response) => {
      const more = (): void =>
        void (response.destroyed || response.write("x".repeat(60_000), more));
      more();
    });
    expect(await reasonOf(endless.url)).toContain("too large");
    await endless.close();
    // PKIStatusInfo with status 2 (rejection), and no token.
    const refusal = await listenAt((_, response) =>
      response.end(Buffer.from("30053003020102", "hex")),
    );
    expect(await reasonOf(refusal.url)).toContain("refused (status 2)");
    await refusal.close();
  });
});

test("a file without certificates is no trust anchor", () => {
  expect(() => parseTrustAnchors("nothing")).toThrow(/PEM file/u);
});
