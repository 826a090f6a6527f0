/** Which files of a directory libcni takes for network configurations. */

const SUFFIXES = [".conf", ".conflist", ".json"];

/** The names of configurations among those in a directory, in the order in which libcni reads them. */
export function configurationNames(names: readonly string[]): readonly string[] {
  return names.filter((name) => SUFFIXES.some((suffix) => name.endsWith(suffix))).toSorted();
}
