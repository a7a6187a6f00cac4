import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { listenAt } from "./running-witness.js";

const run = promisify(execFile);

/** A timestamp authority of OpenSSL behind a small HTTP server. */
export type RunningAuthority = {
  readonly url: string;
  readonly caFile: string;
  /** The PEM text of its root certificate. */
  readonly ca: string;
  /** Requests so far. */
  readonly requests: () => number;
  close(): Promise<void>;
};

/** Runs openssl. */
export async function openssl(...groups: (readonly string[])[]): Promise<string> {
  return (await run("openssl", groups.flat())).stdout;
}

const CONFIG = (folder: string, digest: string): string => `
[ tsa ]
default_tsa = tsa1
[ tsa1 ]
serial = ${join(folder, "serial")}
signer_cert = ${join(folder, "tsa.pem")}
signer_key = ${join(folder, "tsa.key")}
certs = ${join(folder, "ca.pem")}
signer_digest = ${digest}
default_policy = 1.2.3.4.1
digests = sha256, sha512
accuracy = secs:1
ess_cert_id_chain = no
ess_cert_id_alg = sha256
`;

/** Makes a certificate authority, a certificate with the given purpose, and starts the server. */
export async function startAuthority(
  folder: string,
  usage = "critical,timeStamping",
  keyKind: readonly string[] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
  { digest = "sha256", extension = "" } = {},
): Promise<RunningAuthority> {
  const file = (name: string): string => join(folder, name);
  await openssl(
    ["req", "-x509", "-newkey", ...keyKind, "-nodes", "-subj", "/CN=Test root", "-days", "30"],
    ["-addext", "keyUsage=critical,keyCertSign", "-keyout", file("ca.key"), "-out", file("ca.pem")],
  );
  await openssl(
    ["req", "-newkey", ...keyKind, "-nodes", "-subj", "/CN=Test authority"],
    ["-keyout", file("tsa.key"), "-out", file("tsa.csr")],
  );
  await writeFile(
    file("ext"),
    `extendedKeyUsage=${usage}\nkeyUsage=critical,digitalSignature\n${extension}\n`,
  );
  await openssl(
    ["x509", "-req", "-in", file("tsa.csr"), "-CA", file("ca.pem"), "-CAkey", file("ca.key")],
    ["-days", "30", "-extfile", file("ext"), "-out", file("tsa.pem")],
  );
  await writeFile(file("serial"), "01\n");
  await writeFile(file("tsa.cnf"), CONFIG(folder, digest));
  let count = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const listening = await listenAt((request, response) => {
    count += 1;
    const number = count;
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const answer = async (): Promise<void> => {
        const query = file(`${number}.tsq`);
        const reply = file(`${number}.tsr`);
        await writeFile(query, Buffer.concat(pieces));
        await openssl([
          "ts",
          "-reply",
          "-config",
          file("tsa.cnf"),
          "-queryfile",
          query,
          "-out",
          reply,
        ]);
        response.writeHead(200, { "content-type": "application/timestamp-reply" });
        response.end(await readFile(reply));
      };
      turn = turn.then(answer).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  });
  return {
    url: `${listening.url}/tsa`,
    caFile: file("ca.pem"),
    ca: await readFile(file("ca.pem"), "utf8"),
    requests: () => count,
    close: listening.close,
  };
}
