import type { HttpRequest } from "./exchange.js";

/**
 * Whether a request repeats a header that must be single.
 *
 * Node's parser keeps the first one; a proxy in front may have decided by the last.
 */
export function hasDuplicateHeader({ rawHeaders }: HttpRequest, name: string): boolean {
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index];
    if (field?.length === name.length && field.toLowerCase() === name) times += 1;
  }
  return times > 1;
}
