import type { JsonObject, JsonValue } from "@countersign/core";
import { asCelMap, createJsonView, JsonMap } from "@countersign/core/cel";
import type { CelInput, CelValue } from "@bufbuild/cel";

/** Members computed on read; they override members of the same name in the object. */
export type Overlay<Source> = ReadonlyMap<string, (source: Source) => JsonValue>;

/** Reads of an event cost no steps; the loops of a condition count. */
const UNMETERED = { spend: () => undefined };

/** A member that is null counts as absent in `has` and `in`. */
class ConditionMap extends JsonMap {
  override has(key: CelValue): boolean {
    const value = this.get(key);
    return value !== undefined && value !== null;
  }
}

/** Exposes JSON to CEL without copying it. */
export const toCelInput = createJsonView(UNMETERED, ConditionMap);

/**
 * An object with computed members over it. Nothing is copied: a spread cost more than the
 * condition.
 */
export function layered<Source>(
  object: JsonObject,
  overlay: Overlay<Source>,
  source: Source,
): CelInput {
  return asCelMap(new LayeredMap(object, overlay, source));
}

class LayeredMap<Source> extends ConditionMap {
  readonly #overlay: Overlay<Source>;
  readonly #source: Source;

  constructor(object: JsonObject, overlay: Overlay<Source>, source: Source) {
    super(object, toCelInput, UNMETERED);
    this.#overlay = overlay;
    this.#source = source;
  }

  protected override names(): readonly string[] {
    return [...new Set([...super.names(), ...this.#overlay.keys()])];
  }

  override get(key: CelValue): CelInput | undefined {
    const member = typeof key === "string" ? this.#overlay.get(key) : undefined;
    return member === undefined ? super.get(key) : toCelInput(member(this.#source));
  }
}
