/** Serves a built page and the example agent. */
export function serveChat(options: {
  folder: string;
  port?: number;
}): Promise<{ url: string; close: () => Promise<void> }>;
