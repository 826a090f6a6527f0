/**
 * How thorough a run of the tests is: `short` is a small part of every kind of test, `full` is all but
 * repetitions of the same kind, `exhaustive` is everything.
 */
export type Extent = "short" | "full" | "exhaustive";

/** The extent of this run, from `HOST_LOCAL_EXTENT`: `npm test` is short, `npm run test:all` is full. */
export const extent: Extent = extentNamed(process.env.HOST_LOCAL_EXTENT ?? "short");

/**
 * Reads the name of an extent.
 *
 * @throws {RangeError} if no extent has that name
 */
export function extentNamed(name: string): Extent {
  if (name === "short" || name === "full" || name === "exhaustive") return name;
  throw new RangeError(`expected short, full or exhaustive, found ${name}`);
}

const extents: readonly Extent[] = ["short", "full", "exhaustive"];

/** Whether a test of one extent is a part of another extent. */
export function isIn(part: Extent, whole: Extent): boolean {
  return extents.indexOf(part) <= extents.indexOf(whole);
}
