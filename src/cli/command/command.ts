/** The definition of a command, from which its parser, help, manual page and completion are made. */

import type { OperatorSystem, Service } from "../../system/operator-system.ts";

/** An option of a command. */
export interface Option {
  /** The option as it is written, such as `--conf-dir`. */
  readonly name: string;
  /** A short form, such as `-h`. */
  readonly short?: string;
  /** The placeholder of its value, such as `DIR`; `undefined` for an option that takes none. */
  readonly value?: string;
  /** Whether it may be given more than once. */
  readonly isRepeatable?: boolean;
  /** The names of options of which one has to be given with it. */
  readonly requires?: readonly string[];
  /** One line, without a full stop. */
  readonly summary: string;
}

/** An example command line, with what it does. */
export interface Example {
  readonly line: string;
  readonly effect: string;
}

/** A command. */
export interface Command {
  readonly name: string;
  /** The operands as in the usage line, such as `[NETWORK]`, which say how many there may be; may be empty. */
  readonly operands: string;
  /** The words after the name in the usage line, if they are not the operands and `[OPTION]...`. */
  readonly usage?: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Paragraphs. */
  readonly description: readonly string[];
  /** Whether it finds networks, and so takes `--conf-dir` and `--data-dir`. */
  readonly findsNetworks?: boolean;
  /** The command's own options, without those that several commands have, see `optionsOf`. */
  readonly options: readonly Option[];
  /** Names of options of which at most one may be given. */
  readonly exclusive?: readonly (readonly string[])[];
  readonly examples: readonly Example[];
  readonly run: (context: Context) => Report;
}

/** What a command runs with. */
export interface Context {
  readonly system: OperatorSystem;
  /** All commands of the program. */
  readonly commands: readonly Command[];
  readonly operands: readonly string[];
  /** Whether an option without a value was given. */
  readonly has: (option: string) => boolean;
  /** The value of an option; `undefined` if it was not given. */
  readonly option: (option: string) => string | undefined;
  /** The values of an option that may be given more than once, in their order. */
  readonly values: (option: string) => readonly string[];
  /** Writes a message to standard error, after the program's name, as one line. */
  readonly log: (message: string) => void;
}

/**
 * The result of a command.
 *
 * Exit code 0: success, and no problems. 1: problems were found, nothing was found, or the change was not confirmed or was
 * refused. 2 is for errors, see `CommandError`, and for what `check` cannot tell node-problem-detector.
 */
export interface Report {
  readonly exitCode: 0 | 1 | 2;
  /** The answer for `--json`: plain values and bigints. Only this or `text` is called: either may take seconds. */
  readonly document: () => unknown;
  /** The answer without `--json`; ends with a newline unless it is empty. */
  readonly text: () => string;
  /** Why a change was refused, for standard error. */
  readonly refusal?: RefusedError;
  /** What the process does once this is printed, until it is terminated. */
  readonly service?: Service;
}

/** Invalid arguments or input; the command exits with code 2. */
export class CommandError extends Error {
  /** What stands below the message, such as a list. */
  readonly lines: readonly string[];

  constructor(message: string, lines: readonly string[] = []) {
    super(message);
    this.lines = lines;
  }
}

/** What the node is not to lose unawares: nothing was changed, and an option insists on it. See `Report.refusal`. */
export class RefusedError extends CommandError {}

/** What an option names cannot be used: the option, a colon and the problem. It is printed after the name of the command. */
export class OptionError extends CommandError {}

/** Wrong usage of an option, or of the operands: the error ends with the command line that prints help. */
export class UsageError extends OptionError {}
