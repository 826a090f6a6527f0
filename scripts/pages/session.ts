/** The first session of a page: commands behind a prompt, and what they print. */

/**
 * Its lines.
 *
 * @param page a page of Markdown
 * @throws {Error} if there is none
 */
export function sessionOf(page: string): readonly string[] {
  const [, session] = /^```console\n(\$ .*?)\n```$/ms.exec(page) ?? [];
  if (session === undefined) throw new Error("The page has no session.");
  return session.split("\n");
}

/** A command and its output. */
export interface Step {
  readonly command: string;
  readonly output: string;
}

/** A session by its commands, each with what it prints, without the blank line before the next one. */
export function stepsOf(session: readonly string[]): readonly Step[] {
  return session
    .join("\n")
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [command = "", ...output] = step.trimEnd().split("\n");
      return { command, output: output.join("\n") };
    });
}
