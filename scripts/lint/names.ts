/** One name for one thing: no two functions, classes or types that files of src/ export have the same name. */

import type { SourceFile } from "./source.ts";

const EXPORTED = /^export (?:async |abstract )?(?:function|class|interface|type) (\w+)/gm;

/** What each engine has its own of. */
const ENGINES = ["src/system/node/", "src/system/quickjs/"];

/** The names that two files export. */
export function nameProblems(files: readonly SourceFile[]): readonly string[] {
  const places = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    if (!path.startsWith("src/") || ENGINES.some((engine) => path.startsWith(engine))) continue;
    for (const [, name = ""] of text.matchAll(EXPORTED)) {
      places.set(name, (places.get(name) ?? new Set()).add(path));
    }
  }
  return [...places].flatMap(([name, paths]) =>
    paths.size < 2 ? [] : [`${[...paths].join(", ")}: each exports ${name}`],
  );
}
