/** Reads POST requests with a content-length from a socket, and passes on their bodies. */
export function createRequestReader(onBody: (body: string) => void): (piece: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  return (piece) => {
    pending = pending.length === 0 ? piece : Buffer.concat([pending, piece]);
    for (;;) {
      const headEnd = pending.indexOf("\r\n\r\n");
      if (headEnd === -1) return;
      const head = pending.toString("latin1", 0, headEnd);
      const length = /^content-length:\s*(\d+)/im.exec(head)?.[1];
      if (length === undefined) throw new Error(`a request without content-length: ${head}`);
      const end = headEnd + 4 + Number(length);
      if (pending.length < end) return;
      const body = pending.toString("utf8", headEnd + 4, end);
      pending = pending.subarray(end);
      onBody(body);
    }
  };
}
