/**
 * Matches a whole name against a pattern in which `*` matches any run of characters and `?` one
 * character. Two pointers and one remembered star: at most pattern × name steps for any pattern (a
 * regular expression built from it could backtrack).
 *
 * @param passedOver a character of the name that may occur where the pattern has none
 */
export function matchesGlob(pattern: string, name: string, passedOver?: string): boolean {
  const separator = passedOver?.charCodeAt(0);
  let at = 0;
  let star = -1;
  let resume = 0;
  let position = 0;
  while (position < name.length) {
    const code = at < pattern.length ? pattern.charCodeAt(at) : -1;
    if (code === STAR) {
      star = at;
      at += 1;
      resume = position;
    } else if (code === QUESTION || (code !== -1 && code === name.charCodeAt(position))) {
      at += 1;
      position += 1;
    } else if (name.charCodeAt(position) === separator) {
      position += 1;
    } else if (star === -1) {
      return false;
    } else {
      at = star + 1;
      resume += 1;
      position = resume;
    }
  }
  while (at < pattern.length && pattern.charCodeAt(at) === STAR) at += 1;
  return at === pattern.length;
}

const STAR = 42;
const QUESTION = 63;

/** Whether a pattern has a wildcard at all. */
export function isGlob(pattern: string): boolean {
  return pattern.includes("*") || pattern.includes("?");
}
