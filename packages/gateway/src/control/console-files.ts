import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";

/** A file of the console as it is answered. */
export type ConsoleFile = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  /** Its name changes with its content, so that a browser may keep it. */
  readonly isHashed: boolean;
};

/** The console by the paths below `/console/`; the page itself is `index.html`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** What else lies in the folder is not for browsers. */
const TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml"],
]);

/** The page. */
export const CONSOLE_PAGE = "index.html";

/** Where the build puts files that carry a hash in their name. */
const HASHED = "assets/";

/**
 * Reads the built console once; afterwards no request touches the disk, whatever its path says.
 *
 * @returns nothing when the folder has no page: the console was not built
 */
export function readConsoleFiles(directory: string): ConsoleFiles | undefined {
  const files = new Map<string, ConsoleFile>();
  for (const path of regularFiles(directory)) {
    const type = TYPES.get(extname(path));
    if (type === undefined) continue;
    const name = relative(directory, path).split(sep).join("/");
    const bytes = new Uint8Array(readFileSync(path));
    files.set(name, { bytes, type, isHashed: name.startsWith(HASHED) });
  }
  return files.has(CONSOLE_PAGE) ? files : undefined;
}

/** Links are not followed: what is served lies in the folder itself. */
function regularFiles(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
