import { CountersignError } from "@countersign/core";
import "../base/errors.js";
import type { Disclosure } from "../safe/disclosure.js";
import { isRecord } from "../safe/value.js";

/**
 * Reads members of an owner's payload by name and type. Members that are not requested are never
 * read, so a new secret field of a runtime stays inside by default.
 */
export class PayloadReader {
  readonly disclosure: Disclosure;
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #kind: string;
  readonly #path: string;

  constructor(value: unknown, kind: string, disclosure: Disclosure, path = "") {
    this.#kind = kind;
    this.#path = path;
    this.disclosure = disclosure;
    if (!isRecord(value)) throw this.malformed("");
    this.#value = value;
  }

  /** The unchecked member, for summaries only; `undefined` when absent. */
  raw(name: string): unknown {
    return Object.hasOwn(this.#value, name) ? this.#value[name] : undefined;
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  /** A count or an index. */
  count(name: string): number {
    const value = this.raw(name);
    if (!Number.isSafeInteger(value) || (value as number) < 0) throw this.malformed(`/${name}`);
    return value as number;
  }

  optionalCount(name: string): number | undefined {
    return this.has(name) ? this.count(name) : undefined;
  }

  /** The ledger id of a run or an event. */
  ledgerId(name: string): number {
    const id = this.count(name);
    if (id === 0) throw this.malformed(`/${name}`);
    return id;
  }

  /** An id, a name or a reference, shown verbatim. */
  identifier(name: string): string {
    const value = this.disclosure.identifier(this.raw(name));
    if (value === undefined) throw this.malformed(`/${name}`);
    return value;
  }

  optionalIdentifier(name: string): string | undefined {
    return this.has(name) ? this.identifier(name) : undefined;
  }

  /** A list of ids, names or references. */
  identifiers(name: string): string[] {
    return this.list(name).map((item, index) => {
      const value = this.disclosure.identifier(item);
      if (value === undefined) throw this.malformed(`/${name}/${index}`);
      return value;
    });
  }

  /** A code of a closed vocabulary, or undefined for free text. */
  code(name: string): string | undefined {
    return this.disclosure.code(this.raw(name));
  }

  text(name: string): string {
    const value = this.raw(name);
    if (typeof value !== "string") throw this.malformed(`/${name}`);
    return value;
  }

  optionalFlag(name: string): boolean | undefined {
    const value = this.raw(name);
    if (value !== undefined && typeof value !== "boolean") throw this.malformed(`/${name}`);
    return value;
  }

  list(name: string): readonly unknown[] {
    const value = this.raw(name);
    if (!Array.isArray(value)) throw this.malformed(`/${name}`);
    return value;
  }

  /** A reader for a member that is an object. */
  object(name: string): PayloadReader {
    return new PayloadReader(this.raw(name), this.#kind, this.disclosure, `${this.#path}/${name}`);
  }

  optionalObject(name: string): PayloadReader | undefined {
    return this.has(name) ? this.object(name) : undefined;
  }

  /** A reader for one element of a list of this payload. */
  element(name: string, index: number, value: unknown): PayloadReader {
    return new PayloadReader(value, this.#kind, this.disclosure, `${this.#path}/${name}/${index}`);
  }

  malformed(path: string): CountersignError {
    const place = this.#path + path;
    return new CountersignError(
      "ERR_PROJECTION_MALFORMED_PAYLOAD",
      `the payload does not match its kind${place === "" ? "" : ` at ${place}`}`,
      { kind: this.#kind, path: place },
    );
  }
}

/** Members that may be undefined become optional. */
export type Compact<T> = {
  [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name];
} & { [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined> };

/** Removes undefined members: in AG-UI absent means absent, never null. */
export function compact<T extends Record<string, unknown>>(members: T): Compact<T> {
  for (const name of Object.keys(members)) if (members[name] === undefined) delete members[name];
  return members as unknown as Compact<T>;
}
