import type { JsonObject, JsonValue } from "@countersign/core";
import { asCelMap, createJsonView, JsonMap } from "@countersign/core/cel";
import type { JsonView } from "@countersign/core/cel";
import type { CelInput, CelValue } from "@bufbuild/cel";

/** Members computed on read; they override members of the same name in the object. */
export type Overlay<Source> = ReadonlyMap<string, (source: Source) => JsonValue>;

/** Counts the steps of an evaluation; throws when there are none left. */
export type Spend = (steps: number) => void;

/** Values that are read in one step: most of them are read by a loop, whose turns count. */
const READS_PER_STEP = 32;
const readingMeter = (spend: Spend) => ({
  spend: (reads: number): void => spend(reads / READS_PER_STEP),
});

/** A member that is null counts as absent in `has` and `in`. */
class ConditionMap extends JsonMap {
  override has(key: CelValue): boolean {
    const value = this.get(key);
    return value !== undefined && value !== null;
  }
}

/** Exposes JSON to CEL without copying it; `spend` is called for what is read. */
export function toCelInput(value: JsonValue, spend: Spend): CelInput {
  return createJsonView(readingMeter(spend), ConditionMap)(value);
}

/**
 * An object with computed members over it. Nothing is copied: a spread cost more than the
 * condition.
 */
export function layered<Source>(
  object: JsonObject,
  overlay: Overlay<Source>,
  source: Source,
  spend: Spend,
): CelInput {
  return asCelMap(new LayeredMap(object, overlay, source, spend));
}

class LayeredMap<Source> extends ConditionMap {
  readonly #overlay: Overlay<Source>;
  readonly #source: Source;
  readonly #view: JsonView;
  /** The changes of a state take long to find, and a loop may read them each time. */
  readonly #computed = new Map<string, CelInput>();

  constructor(object: JsonObject, overlay: Overlay<Source>, source: Source, spend: Spend) {
    const meter = readingMeter(spend);
    const view = createJsonView(meter, ConditionMap);
    super(object, view, meter);
    this.#view = view;
    this.#overlay = overlay;
    this.#source = source;
  }

  protected override names(): readonly string[] {
    return [...new Set([...super.names(), ...this.#overlay.keys()])];
  }

  override get(key: CelValue): CelInput | undefined {
    const member = typeof key === "string" ? this.#overlay.get(key) : undefined;
    if (member === undefined) return super.get(key);
    const known = this.#computed.get(String(key));
    if (known !== undefined) return known;
    const value = this.#view(member(this.#source));
    this.#computed.set(String(key), value);
    return value;
  }
}
