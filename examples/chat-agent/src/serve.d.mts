/** A page that is served. */
export type Chat = { url: string; close: () => Promise<void> };

/** Serves a built page and the example agent; the page may call a gateway too. */
export function serveChat(options: {
  folder: string;
  port?: number;
  gateway?: string | undefined;
}): Promise<Chat>;

/** Serves on the `PORT` of an environment, or tells in one line why it cannot. */
export function startChat(options: {
  folder: string;
  environment: Readonly<Record<string, string | undefined>>;
  out: (line: string) => void;
  err: (line: string) => void;
}): Promise<Chat | undefined>;
