// `SEED=7 npm test` repeats a run: every property starts from that number. Without it each run tries other values.
import { configureGlobal } from "fast-check";

const seed = Number(process.env["SEED"]);
if (Number.isSafeInteger(seed) && seed > 0) configureGlobal({ seed });
