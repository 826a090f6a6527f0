/**
 * A part of a list, from its beginning to its end.
 *
 * @param items the list
 * @param oneIn one item in this many is taken, and at least one in all
 * @param seed decides which items
 */
export function sample<T>(items: readonly T[], oneIn: number, seed: number): readonly T[] {
  const size = Math.ceil(items.length / oneIn);
  return Array.from({ length: size }, (_, at) => {
    const start = Math.floor((at * items.length) / size);
    const end = Math.floor(((at + 1) * items.length) / size);
    return items.slice(start + ((seed + at) % (end - start)))[0];
  }).filter((item) => item !== undefined);
}
