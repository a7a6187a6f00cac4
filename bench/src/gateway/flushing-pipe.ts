/**
 * A pipe that flushes every piece to disk before it forwards it: the cost of that guarantee alone.
 */
import { answerAsKeepingPipe } from "./keeping-pipe.js";

answerAsKeepingPipe((piece) => piece);
