/** Callbacks for a chunked response. */
export type ResponseWatcher = {
  onHead(status: number): void;
  onBody(piece: Buffer): void;
  onEnd(): void;
};

type Place = "head" | "size" | "data" | "trailer";

const LINE_FEED = 0x0a;

/** Reads HTTP/1.1 responses in chunks (or with a length) one after another from a connection. */
export function createResponseReader(watcher: ResponseWatcher): (piece: Buffer) => void {
  let at: Place = "head";
  let line = "";
  let left = 0;
  let hasLength = false;

  const endOfHead = (head: string): void => {
    const status = Number(/^HTTP\/1\.1 (\d+)/u.exec(head)?.[1]);
    const length = /^content-length:\s*(\d+)/im.exec(head)?.[1];
    watcher.onHead(status);
    hasLength = length !== undefined;
    left = Number(length ?? 0);
    at = hasLength ? "data" : "size";
  };
  const end = (): void => {
    at = "head";
    watcher.onEnd();
  };
  const endOfLine = (): void => {
    if (at === "head") {
      if (!line.endsWith("\r\n\r\n")) return;
      const head = line;
      line = "";
      endOfHead(head);
      return;
    }
    const text = line.trim();
    line = "";
    if (at === "trailer") {
      if (text === "") end();
    } else if (text !== "") {
      left = Number.parseInt(text, 16);
      at = left === 0 ? "trailer" : "data";
    }
  };

  return (piece) => {
    let position = 0;
    while (position < piece.length) {
      if (at === "data") {
        const stop = Math.min(piece.length, position + left);
        watcher.onBody(piece.subarray(position, stop));
        left -= stop - position;
        position = stop;
        if (left > 0) return;
        if (hasLength) end();
        // The line break after a chunk reads as an empty line before the next size.
        else at = "size";
      } else {
        const feed = piece.indexOf(LINE_FEED, position);
        const stop = feed === -1 ? piece.length : feed + 1;
        line += piece.toString("latin1", position, stop);
        position = stop;
        if (feed !== -1) endOfLine();
      }
    }
  };
}
