import { createRequire } from "node:module";

/** The path of a policy file that comes with the command. */
export function shippedPolicy(name: string): string {
  return createRequire(import.meta.url).resolve(`@countersign/policy/policies/${name}`);
}
