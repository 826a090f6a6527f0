/** The TypeScript files of a project, as the compiler reads them. */

import { dirname, join, relative } from "node:path";
import { isStringLiteral } from "typescript/unstable/ast/is";
import { API } from "typescript/unstable/sync";

/** A TypeScript file. */
export interface SourceFile {
  /** Relative to the project's directory. */
  readonly path: string;
  readonly text: string;
  /** The files that it imports by a relative path, types among them; relative to the project's directory. */
  readonly imports: readonly string[];
}

/**
 * Reads every file of a project.
 *
 * @param directory the absolute path of the directory with its `tsconfig.json`
 * @throws {Error} if there is no such project
 */
export function sourceFilesIn(directory: string): readonly SourceFile[] {
  const api = new API({ cwd: directory });
  try {
    const [project] = api.updateSnapshot({ openProject: "tsconfig.json" }).getProjects();
    if (project === undefined) throw new Error(`${directory} has no tsconfig.json`);
    return project.rootFiles.flatMap((name) => {
      const file = project.program.getSourceFile(name);
      if (file === undefined) return [];
      const imports = file.imports
        .filter(isStringLiteral)
        .filter(({ text }) => text.startsWith("."))
        .map(({ text }) => relative(directory, join(dirname(name), text)));
      return [{ path: relative(directory, name), text: file.text, imports }];
    });
  } finally {
    api.close();
  }
}
