import { createRequire } from "node:module";

const BATCH = 1_000;
const BODY_BYTES = 800;

type Client = {
  connect(): Promise<void>;
  query(sql: string | object, values?: unknown[]): Promise<unknown>;
  end(): Promise<void>;
};

/** Bodies of the size of entries. */
export function sampleRows(count: number): Buffer[] {
  return Array.from({ length: count }, (_, at) =>
    Buffer.from(
      `{"seq":${at},"x":"${String(Math.random())
        .repeat(60)
        .slice(0, BODY_BYTES - 30)}"}`,
    ),
  );
}

/** A plain table of numbers, hashes and bodies, one transaction for each batch of 1,000 rows. */
export type PlainTable = {
  insert(rows: readonly Buffer[]): Promise<void>;
  close(): Promise<void>;
};

/** Opens a table that is filled by `unnest` or by `COPY` in binary form. */
export async function openPlainTable(url: string, how: "unnest" | "copy"): Promise<PlainTable> {
  const fromReceipts = createRequire(import.meta.resolve("@countersign/receipts"));
  const { Client } = fromReceipts("pg") as { Client: new (options: object) => Client };
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    `CREATE TABLE plain_${how} (seq bigint PRIMARY KEY, leaf bytea NOT NULL, body bytea NOT NULL)`,
  );
  let next = 0;
  return {
    async insert(rows) {
      for (let at = 0; at < rows.length; at += BATCH) {
        const part = rows.slice(at, at + BATCH);
        if (how === "copy") await copyRows(client, next, part);
        else {
          await client.query(
            "INSERT INTO plain_unnest SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[])",
            [part.map((_, index) => next + index), part.map(() => LEAF), part],
          );
        }
        next += part.length;
      }
    },
    close: () => client.end(),
  };
}

const LEAF = Buffer.alloc(32, 7);
/** The signature of the binary format of COPY, its flags and the length of its extension. */
const HEADER = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const TRAILER = Buffer.from([0xff, 0xff]);

type Connection = {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
};

/** Rows as one COPY whose data is sent without waiting for the server. */
function copyRows(client: Client, first: number, rows: readonly Buffer[]): Promise<unknown> {
  const pieces: Buffer[] = [HEADER];
  for (const [at, body] of rows.entries()) {
    const head = Buffer.alloc(2 + 4 + 8 + 4);
    head.writeInt16BE(3, 0);
    head.writeInt32BE(8, 2);
    head.writeBigInt64BE(BigInt(first + at), 6);
    head.writeInt32BE(LEAF.length, 14);
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length);
    pieces.push(head, LEAF, length, body);
  }
  pieces.push(TRAILER);
  const data = Buffer.concat(pieces);
  return new Promise((done, fail) => {
    void client.query({
      submit(connection: Connection) {
        connection.query("COPY plain_copy FROM STDIN (FORMAT binary)");
        connection.sendCopyFromChunk(data);
        connection.endCopyFrom();
      },
      handleCopyInResponse: () => {},
      handleCommandComplete: () => {},
      handleError: fail,
      handleReadyForQuery: done,
    });
  });
}
