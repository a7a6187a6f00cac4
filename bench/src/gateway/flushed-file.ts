import { constants, openSync, write, writeSync } from "node:fs";

const BYTES = 64 * 1024 * 1024;
const STEP = 1024 * 1024;

/** Writes a group and calls back once it is on disk. */
export type Flush = (group: Buffer, onFlushed: () => void) => void;

/**
 * The cheapest durable log: a preallocated file of zeros, written cyclically, one thread call per
 * write and flush. It cannot be read back.
 */
export function openFlushedFile(path: string): Flush {
  const zeros = Buffer.alloc(STEP);
  const laidOut = openSync(path, "w");
  for (let at = 0; at < BYTES; at += STEP) writeSync(laidOut, zeros);
  const file = openSync(path, constants.O_RDWR | constants.O_DSYNC);
  let at = 0;
  return (group, onFlushed) => {
    if (at + group.length > BYTES) at = 0;
    write(file, group, 0, group.length, at, (error) => {
      if (error !== null) throw error;
      onFlushed();
    });
    at += group.length;
  };
}
