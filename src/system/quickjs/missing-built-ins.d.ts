/**
 * The methods that TypeScript's library for ES2023 declares and the engine of the native executable does not have, see
 * engine.c, or scripts/build/native.ts leaves out. Read by tsconfig.engine.json alone: there a program that uses what such a
 * method returns has a type error.
 * Whole objects that are missing, such as `Proxy`, are denied in biome.json.
 */

declare const notInQuickJs: unique symbol;

/** Nothing can be done with it. A declaration cannot be taken away, but this one is preferred to the library's. */
type NotInQuickJs = typeof notInQuickJs;

interface String {
  localeCompare(...given: readonly unknown[]): NotInQuickJs;
  normalize(...given: readonly unknown[]): NotInQuickJs;
}

interface Math {
  sin(angle: unknown): NotInQuickJs;
  cos(angle: unknown): NotInQuickJs;
  tan(angle: unknown): NotInQuickJs;
  asin(value: unknown): NotInQuickJs;
  acos(value: unknown): NotInQuickJs;
  atan(value: unknown): NotInQuickJs;
  atan2(y: unknown, x: unknown): NotInQuickJs;
}
