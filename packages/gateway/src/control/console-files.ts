import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";

/** A file of the console, ready to be served. */
export type ConsoleFile = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  /** Its name contains a hash of its content, so a browser may cache it. */
  readonly isHashed: boolean;
};

/** The console by path below `/console/`; the page itself is `index.html`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** Other files in the folder are not served. */
const TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml"],
]);

/** The console's HTML page. */
export const CONSOLE_PAGE = "index.html";

/** The folder of the build whose file names contain a hash. */
const HASHED = "assets/";

/**
 * Reads the built console once; afterwards no request touches the disk, whatever its path is.
 *
 * @returns `undefined` when the folder has no page: the console was not built
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

/** Symbolic links are not followed: every served file is in the folder itself. */
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
