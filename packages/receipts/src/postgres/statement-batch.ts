import type { Connection, PoolClient, Submittable } from "pg";

/** A value of a statement: text, bytes, or null. */
type Value = string | number | Buffer | null;

/** A statement of a batch. The server parses it once for each connection. */
export type Statement = {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Value[];
  /** The data of a COPY. */
  readonly data?: Buffer;
};

/** Members of a connection that its types leave out. */
type CopyConnection = Connection & { sendCopyFromChunk(data: Buffer): void; endCopyFrom(): void };

const prepared = new WeakMap<Connection, Set<string>>();

/**
 * Statements that are sent together and confirmed together: after a failure the server ignores the
 * others, a COMMIT at the end included.
 */
class Batch implements Submittable {
  readonly #statements: readonly Statement[];
  #error: Error | undefined;
  /** The driver replaces it to limit the time of a response. */
  callback: (error: Error | null) => void;

  constructor(statements: readonly Statement[], callback: (error: Error | null) => void) {
    this.#statements = statements;
    this.callback = callback;
  }

  submit(connection: Connection): void {
    let known = prepared.get(connection);
    if (known === undefined) prepared.set(connection, (known = new Set()));
    connection.stream.cork();
    for (const { name, text, values, data } of this.#statements) {
      if (!known.has(name)) connection.parse({ name, text, types: [] }, true);
      known.add(name);
      const bound = values.map((value) => (typeof value === "number" ? String(value) : value));
      connection.bind({ statement: name, values: bound }, true);
      connection.execute({}, true);
      if (data === undefined) continue;
      (connection as CopyConnection).sendCopyFromChunk(data);
      (connection as CopyConnection).endCopyFrom();
    }
    connection.sync();
    connection.stream.uncork();
  }

  // The data of a COPY follows its statement without waiting for this.
  handleCopyInResponse(): void {}
  handleCommandComplete(): void {}
  handleDataRow(): void {}
  handleRowDescription(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  handleError(error: Error): void {
    this.#error ??= error;
    this.callback(this.#error);
  }

  handleReadyForQuery(): void {
    this.callback(this.#error ?? null);
  }
}

/** Sends statements in one round trip. When one fails, none of those after it is executed. */
export function runBatch(client: PoolClient, statements: readonly Statement[]): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(
      new Batch(statements, (error) => {
        if (error === null) resolve();
        else reject(error);
      }),
    );
  });
}

/** The text of an array parameter. */
export function arrayText(values: readonly (string | number | boolean | null)[]): string {
  const elements = values.map((value) =>
    typeof value === "string" ? `"${value.replaceAll(/["\\]/g, "\\$&")}"` : String(value),
  );
  return `{${elements.join(",")}}`;
}
