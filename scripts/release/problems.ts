/** What is wrong with a release. */

/** Finds what is wrong; a file that cannot be read at all is a problem like any other. */
export class Problems {
  readonly found: string[] = [];

  attempt(subject: string, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.found.push(`${subject}: ${error instanceof Error ? error.message : error}`);
    }
  }

  expect(condition: boolean, subject: string, problem: string): void {
    if (!condition) this.found.push(`${subject}: ${problem}`);
  }
}
