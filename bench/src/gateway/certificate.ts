import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Writes a new self-signed certificate and its key into a directory. */
export function writeCertificate(directory: string): { cert: string; key: string } {
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const subject = ["-days", "1", "-subj", "/CN=localhost"];
  const args = ["req", "-x509", ...curve, "-keyout", key, "-out", cert, ...subject];
  execFileSync("openssl", args, { stdio: "ignore" });
  return { cert, key };
}
