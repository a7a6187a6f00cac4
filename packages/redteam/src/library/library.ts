import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "../oatf/index.js";
import type { Diagnostic, NormalizedDocument } from "../oatf/index.js";

/** A text that may be a document, and where it is from. */
export type DocumentSource = { readonly name: string; readonly text: string };

/** A document that is ready to run, or why it is not. */
export type LoadedDocument =
  | {
      readonly ok: true;
      readonly name: string;
      readonly document: NormalizedDocument;
      readonly warnings: readonly Diagnostic[];
    }
  | {
      readonly ok: false;
      readonly name: string;
      readonly problems: readonly DocumentProblem[];
    };

/** What is wrong with a document. */
export type DocumentProblem = {
  /** `V-001` and so on, or the kind of the parse error. */
  readonly code: string;
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
};

/** The same two steps up from `src` and from `dist`. */
const FOLDER = fileURLToPath(new URL("../../library/", import.meta.url));

/** The attack documents that come with this package. */
export function librarySources(): DocumentSource[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".yaml"))
    .toSorted()
    .map((name) => ({ name, text: readFileSync(`${FOLDER}/${name}`, "utf8") }));
}

/** Reads sources; a bad one becomes a list of problems and leaves the others alone. */
export function loadSources(sources: readonly DocumentSource[]): LoadedDocument[] {
  return sources.map(({ name, text }) => {
    const loaded = load(text);
    if (loaded.ok) return { ok: true, name, document: loaded.document, warnings: loaded.warnings };
    const findings =
      loaded.stage === "parse" ? [...loaded.errors, ...loaded.violations] : loaded.errors;
    const problems = findings.map((finding): DocumentProblem => {
      const { message, path, line, column } = finding;
      return {
        code: "rule" in finding ? finding.rule : finding.kind,
        message,
        ...(path === undefined ? {} : { path }),
        ...(line === undefined ? {} : { line }),
        ...(column === undefined ? {} : { column }),
      };
    });
    return { ok: false, name, problems };
  });
}
