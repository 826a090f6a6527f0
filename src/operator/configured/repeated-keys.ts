/** Keys that an object of a JSON text has more than once, which the parsed document does not show. */

import { foldKey } from "../../cni/json.ts";

/** A key that is there more than once. */
export interface RepeatedKey {
  /** The key as `foldKey` has it. */
  readonly key: string;
  /** The key of the object that has it; empty where it has none. */
  readonly parent: string;
  /** A sentence without a full stop. */
  readonly message: string;
}

/** A string, or what begins, divides or ends something; numbers and words are passed over. */
const TOKEN = /"(?:[^"\\]+|\\.)*"|[{}[\],:]/g;

/** An object or list that is open where the text is read. */
interface Open {
  readonly parent: Open | undefined;
  readonly isObject: boolean;
  /** The spellings of each key, by the key as `foldKey` has it. */
  readonly keys: Map<string, string[]>;
  /** The key or the index of what is being read in it. */
  place: string;
  isKeyNext: boolean;
  index: number;
}

/**
 * Finds the keys that are there more than once; in plugins, letter case is no difference.
 *
 * @param text a valid JSON text
 */
export function repeatedKeys(text: string): readonly RepeatedKey[] {
  const found: RepeatedKey[] = [];
  let open: Open | undefined;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") {
      const isObject = token === "{";
      const place = isObject ? "" : "[0]";
      open = { parent: open, isObject, keys: new Map(), place, isKeyNext: isObject, index: 0 };
    } else if (open === undefined) {
      return found;
    } else if (token === "}" || token === "]") {
      // No spread: there may be more than a call has arguments.
      for (const one of repetitionsIn(open)) found.push(one);
      open = open.parent;
    } else if (token === ",") {
      open.isKeyNext = open.isObject;
      open.index++;
      if (!open.isObject) open.place = `[${open.index}]`;
    } else if (token === ":") {
      open.isKeyNext = false;
    } else if (open.isKeyNext) {
      const key: string = JSON.parse(token);
      const folded = foldKey(key);
      const same = open.keys.get(folded);
      if (same === undefined) open.keys.set(folded, [key]);
      else same.push(key);
      open.place = key;
    }
  }
  return found;
}

function repetitionsIn({ parent, keys }: Open): readonly RepeatedKey[] {
  return [...keys].flatMap(([key, spellings]): readonly RepeatedKey[] => {
    if (spellings.length === 1) return [];
    const [first = key] = spellings;
    const path = [...pathOf(parent), first].join(".").replaceAll(".[", "[");
    const times = spellings.length === 2 ? "twice" : `${spellings.length} times`;
    const other = spellings.find((one) => one !== first);
    const which =
      other === undefined
        ? "; the last one counts"
        : `, also as ${other}, which is the same key to plugins; one of them is without effect`;
    return [{ key, parent: parent?.place ?? "", message: `${path} is there ${times}${which}` }];
  });
}

/** The places of an object, from the outermost to the object itself. */
function pathOf(open: Open | undefined): readonly string[] {
  const places: string[] = [];
  for (let one = open; one !== undefined; one = one.parent) places.unshift(one.place);
  return places;
}
