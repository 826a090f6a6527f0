/** Random choices that a seed repeats. */

/** A source of random choices. */
export interface Random {
  /** A whole number from 0 up to, but not including, `below`. */
  readonly integer: (below: number) => number;
  /** True in `percent` of a hundred cases. */
  readonly chance: (percent: number) => boolean;
  /** One element of a list that is not empty. */
  readonly pick: <T>(list: readonly T[]) => T;
}

/**
 * Makes a source of random choices (the generator is mulberry32).
 *
 * @param seed equal seeds make equal choices
 */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const integer = (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
  return {
    integer,
    chance: (percent) => integer(100) < percent,
    pick: (list) => {
      const [element] = list.slice(integer(list.length));
      if (element === undefined) {
        throw new RangeError("nothing to pick from");
      }
      return element;
    },
  };
}
