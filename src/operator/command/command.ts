/** What an operator command is: its definition is its parser, its help, its manual page and its completion. */

import type { OperatorSystem } from "../../system/operator-system.ts";

/** An option of a command. */
export interface Option {
  /** Such as `--conf-dir`. */
  readonly name: string;
  /** What its value is called, such as `DIR`; an option without one is a switch. */
  readonly value?: string;
  /** One line, without a full stop. */
  readonly summary: string;
}

/** A command line with what it does. */
export interface Example {
  readonly line: string;
  readonly effect: string;
}

/** A command. */
export interface Command {
  readonly name: string;
  /** The operands as the usage line shows them, such as `[NETWORK]`; empty where there are none. */
  readonly operands: string;
  /** How many operands there may be. */
  readonly operandCount: { readonly least: number; readonly most: number };
  /** One line, without a full stop. */
  readonly summary: string;
  /** Paragraphs. */
  readonly description: readonly string[];
  /** Its own; the common ones come on top. */
  readonly options: readonly Option[];
  readonly examples: readonly Example[];
  readonly run: (context: Context) => Report;
}

/** What a command is run with. */
export interface Context {
  readonly system: OperatorSystem;
  readonly operands: readonly string[];
  /** Whether a switch was given. */
  readonly has: (option: string) => boolean;
  /** The value of an option; `undefined` where it was not given. */
  readonly option: (option: string) => string | undefined;
  /** Says something to the person at the terminal or in the log: standard error. */
  readonly log: (text: string) => void;
}

/**
 * What came of a command.
 *
 * Exit code 0: nothing is wrong, or all was done. 1: there are findings, or it was refused. 2 is left to errors: the
 * command could not look.
 */
export interface Report {
  readonly exitCode: 0 | 1;
  /** For `--json`: plain values and bigints. */
  readonly document: unknown;
  /** For people; ends with a line end unless it is empty. */
  readonly text: string;
}

/** Why a command could not look: what is wrong with its arguments, or what the machine refused. Exit code 2. */
export class CommandError extends Error {}
