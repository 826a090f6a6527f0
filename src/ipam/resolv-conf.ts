/** `resolv.conf` as the Go plugin reads it. */

import { internalError } from "../cni/error.ts";
import type { ResultDns } from "../cni/result.ts";
import { utf8Length, words } from "../cni/unicode.ts";

/** Go's line scanner fails on lines of this many bytes. */
const LONGEST_LINE = 65_536;

/** The DNS settings without a `resolv.conf`. */
export const NO_DNS: ResultDns = { nameservers: [], domain: "", search: [], options: [] };

/**
 * Reads the DNS settings. `search` and `options` accumulate, the last `domain` counts, and nothing is validated.
 *
 * @param content the file's content
 * @throws CniError 999 where a line is too long
 */
export function parseResolvConf(content: string): ResultDns {
  const nameservers: string[] = [];
  const search: string[] = [];
  const options: string[] = [];
  let domain = "";
  for (const line of content.split("\n")) {
    if (line.length * 3 >= LONGEST_LINE && utf8Length(line) >= LONGEST_LINE) {
      throw internalError(
        "bufio.Scanner: token too long",
        `a line of resolvConf has ${LONGEST_LINE} bytes or more`,
      );
    }
    // A comment needs no case of its own: its first word is none of these.
    const [keyword, value, ...further] = words(line);
    if (value === undefined) continue;
    if (keyword === "nameserver") nameservers.push(value);
    else if (keyword === "domain") domain = value;
    else if (keyword === "search") search.push(value, ...further);
    else if (keyword === "options") options.push(value, ...further);
  }
  return { nameservers, domain, search, options };
}
