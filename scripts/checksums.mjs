// SHA256SUMS of the files of a release, signed with OpenSSH (SSHSIG): whoever has the public key can verify with ssh-keygen alone.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const USAGE = `usage: npm run checksums -- FOLDER [--key FILE]

Writes FOLDER/SHA256SUMS, and with --key its signature SHA256SUMS.sig. The key is an Ed25519 key of ssh-keygen.

Verify:
  sha256sum --check SHA256SUMS
  ssh-keygen -Y verify -f allowed_signers -I release@countersign -n file -s SHA256SUMS.sig < SHA256SUMS

Example: npm run checksums -- dist/release --key ~/.ssh/release_ed25519
`;
const SUMS = "SHA256SUMS";
const SIGNATURE = "SHA256SUMS.sig";
/** The namespace that the manual of ssh-keygen recommends for files. */
const NAMESPACE = "file";

/** Writes the sums of all files in a folder, in the format of sha256sum. */
export function writeChecksums(folder) {
  const names = readdirSync(folder)
    .filter((name) => name !== SUMS && name !== SIGNATURE && statSync(join(folder, name)).isFile())
    .toSorted();
  const lines = names.map((name) => {
    const sum = createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
    return `${sum}  ${name}\n`;
  });
  if (lines.length === 0) throw new Error(`${folder} has no files`);
  writeFileSync(join(folder, SUMS), lines.join(""));
  return names;
}

/** Signs the sums; an older signature is replaced. */
export function signChecksums(folder, key) {
  const { status, stdout, stderr } = spawnSync(
    "ssh-keygen",
    ["-Y", "sign", "-f", key, "-n", NAMESPACE],
    {
      input: readFileSync(join(folder, SUMS)),
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(`ssh-keygen could not sign: ${stderr.trim()}`);
  writeFileSync(join(folder, SIGNATURE), stdout);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [folder, flag, key] = process.argv.slice(2);
  if (
    folder === undefined ||
    folder.startsWith("-") ||
    (flag !== undefined && (flag !== "--key" || key === undefined))
  ) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
  } else {
    console.log(`${writeChecksums(resolve(folder)).length} files in ${join(folder, SUMS)}`);
    if (key !== undefined) {
      signChecksums(resolve(folder), key);
      console.log(`signature in ${join(folder, SIGNATURE)}`);
    }
  }
}
