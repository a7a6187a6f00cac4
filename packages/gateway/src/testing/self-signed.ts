import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A key and a self-signed certificate, created for this run. */
export function selfSigned(name = "localhost"): { cert: string; key: string } {
  const directory = mkdtempSync(join(tmpdir(), "countersign-tls-"));
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const subject = [
    "-subj",
    `/CN=${name}`,
    "-addext",
    `subjectAltName=${isIP(name) === 0 ? "DNS" : "IP"}:${name}`,
  ];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync(
    "openssl",
    ["req", "-x509", ...curve, "-keyout", key, "-out", cert, "-days", "1", ...subject],
    { stdio: "ignore" },
  );
  const pair = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  rmSync(directory, { recursive: true });
  return pair;
}
