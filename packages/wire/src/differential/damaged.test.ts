import { mutateTexts } from "../testing/wire-mutations.js";
import { compareInBatches } from "./testing/batch.js";

// Older shapes, unknown material, wrong values, and JSON that is odd or broken as text.
compareInBatches(1_000_000, (random, _seed, events) => mutateTexts(random, events), {
  accepted: 0.2,
  refused: 0.2,
  differing: 0.25,
});
