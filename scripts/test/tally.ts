/** The results of test files, printed as they come and counted. */

import type { FileResult } from "./tap-output.ts";

/** Prints results, and sums them up in a last line that CI reads. */
export class Tally {
  readonly #began = performance.now();
  readonly #sum = { passed: 0, failed: 0, skipped: 0 };
  readonly #skipReasons = new Map<string, number>();
  #files = 0;

  /**
   * Prints a line for a test file, and what failed.
   *
   * @param subject what it was run with, if anything in particular
   */
  add(result: FileResult, subject?: string): void {
    const { path, seconds, passed, failed, skipped, report, skipReasons } = result;
    this.#files++;
    this.#sum.passed += passed;
    this.#sum.failed += failed;
    this.#sum.skipped += skipped;
    for (const reason of skipReasons) {
      this.#skipReasons.set(reason, (this.#skipReasons.get(reason) ?? 0) + 1);
    }
    const counts = [
      `${passed} passed`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ].join(", ");
    const name = subject === undefined ? path : `${path} (${subject})`;
    const time = `${seconds.toFixed(1)} s`.padStart(7);
    console.log(`${failed > 0 ? "FAIL" : "ok  "} ${time}  ${name}: ${counts}`);
    if (report !== "") console.log(report.replaceAll(/^/gm, "      "));
  }

  /** Counts something as failed that kept tests from running. */
  fail(reason: string): void {
    this.#sum.failed++;
    console.log(`FAIL  ${reason}`);
  }

  /** Counts something as skipped that could not be tested. */
  skip(reason: string): void {
    this.#sum.skipped++;
    console.log(reason);
  }

  /** Prints the sum, and sets the exit code: 0 if something passed and nothing failed. */
  conclude(): void {
    const { passed, failed, skipped } = this.#sum;
    for (const [reason, count] of this.#skipReasons) console.log(`${count} skipped: ${reason}`);
    console.log(
      `${this.#files} files in ${Math.round((performance.now() - this.#began) / 1000)} s`,
    );
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
  }
}
