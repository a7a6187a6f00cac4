import { isJsonObject } from "@countersign/core";
import { isSimplePath } from "../primitives/path.js";
import type { Path } from "../yaml/source.js";
import { checkRegex } from "./checks.js";
import type { Report } from "./report.js";

/** V-027 and V-013 for a `match` or a `when`. */
export function checkPredicate(predicate: unknown, path: Path, report: Report): void {
  if (!isJsonObject(predicate)) return;
  for (const [key, condition] of Object.entries(predicate)) {
    const at = [...path, key];
    if (!isSimplePath(key)) report.error("V-027", at, "is not a path of the form a.b.c");
    checkRegex(report, condition, "regex", at);
  }
}
