import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { compilePolicy, createPolicyHolder, loadPolicy } from "@countersign/policy";
import type { LoadOptions, PolicyHolder, ReplaceResult } from "@countersign/policy";
import { STARTER_POLICY } from "./starter-policy.js";

/** A policy and the way to read it again. */
export type OpenPolicy = {
  readonly holder: PolicyHolder;
  /** Reads the file again; the last good policy stays when it does not load. */
  reload(): ReplaceResult;
};

/** Opens the policy file, or the built-in starter when the configuration names none. */
export function openPolicy(file: string | undefined): OpenPolicy {
  const read = (): { text: string; options: LoadOptions } => ({
    text: file === undefined ? STARTER_POLICY : readFileSync(file, "utf8"),
    options: { file: file ?? "starter policy", reader: readReferenced },
  });
  const { text, options } = read();
  const holder = createPolicyHolder(compilePolicy(loadPolicy(text, options)));
  return {
    holder,
    reload: () => {
      const again = read();
      return holder.replace(again.text, again.options);
    },
  };
}

/** `extends` names files relative to the one it stands in. */
function readReferenced(
  reference: string,
  from: string,
): { file: string; text: string } | undefined {
  const file = resolve(dirname(from), reference);
  return existsSync(file) ? { file, text: readFileSync(file, "utf8") } : undefined;
}
