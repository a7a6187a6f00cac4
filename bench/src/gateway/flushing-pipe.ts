/**
 * A pipe that flushes every piece to disk before it forwards it: the cost of that guarantee alone.
 */
import { serveAsDurablePipe } from "./durable-pipe.js";

serveAsDurablePipe((piece) => piece);
