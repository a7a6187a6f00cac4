import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { librarySources, loadSources } from "@countersign/redteam";
import type { DocumentSource, LoadedDocument } from "@countersign/redteam";
import { readText } from "../../files/read-file.js";
import "../errors.js";

/** No document is longer; reading more would only feed the parser's refusal. */
const LARGEST = 8 * 1_048_576;

/** The documents of files and folders, or the built-in library when none are named. */
export function readSources(paths: readonly string[]): DocumentSource[] {
  if (paths.length === 0) return librarySources();
  return paths.flatMap((path) => {
    const facts = statSync(path, { throwIfNoEntry: false });
    if (facts === undefined) {
      throw new CountersignError("ERR_CLI_NO_FILE", `there is no ${path}`, { file: path });
    }
    return (facts.isDirectory() ? filesIn(path) : [path]).map(readSource);
  });
}

function filesIn(folder: string): string[] {
  return (
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.ya?ml$/.test(name))
      .toSorted()
      .map((name) => join(folder, name))
      // A pipe is never opened to its end, and a link may lead to a device that has none.
      .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)
  );
}

function readSource(name: string): DocumentSource {
  const { size } = statSync(name);
  return { name, text: size > LARGEST ? " ".repeat(LARGEST) : readText(name) };
}

/** Documents that a filter keeps. Words are joined by comma: any of them is enough, and none that starts with a minus. */
export function filterDocuments(
  documents: readonly LoadedDocument[],
  filter: string | undefined,
): LoadedDocument[] {
  if (filter === undefined) return [...documents];
  const words = filter
    .split(",")
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== "");
  const unwanted = words.filter((word) => word.startsWith("-")).map((word) => word.slice(1));
  const wanted = words.filter((word) => !word.startsWith("-"));
  if (words.length === 0) return [];
  return documents.filter(
    (loaded) =>
      !unwanted.some((word) => isWanted(loaded, word)) &&
      (wanted.length === 0 || wanted.some((word) => isWanted(loaded, word))),
  );
}

function isWanted(loaded: LoadedDocument, word: string): boolean {
  if (!loaded.ok) return loaded.name.toLowerCase().includes(word);
  const { attack } = loaded.document;
  const { tags = [], mappings = [] } = attack.classification ?? {};
  if (word.startsWith("severity:")) return attack.severity?.level === word.slice(9);
  if (word.startsWith("tag:")) return tags.includes(word.slice(4));
  const texts = [
    loaded.name,
    attack.id ?? "",
    attack.name,
    ...tags,
    ...mappings.map(({ id }) => id),
  ];
  return texts.some((text) => text.toLowerCase().includes(word));
}

/** Reads, parses and filters. */
export function loadDocuments(
  paths: readonly string[],
  filter: string | undefined,
): LoadedDocument[] {
  return filterDocuments(loadSources(readSources(paths)), filter);
}
