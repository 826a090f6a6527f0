/** The parts of the agent: commands that it runs again and again. */

import { type Context, UsageError } from "../../cli/command/command.ts";
import { networkOptions } from "../../cli/command/common-options.ts";
import { parseDuration } from "../../cli/command/duration.ts";
import { member, textOf } from "../../cli/command/json-values.ts";
import { cacheOption } from "../node/results-cache.ts";
import { agentOptions, listenOption } from "./options.ts";

/** What the log says about a run that succeeded, from its standard output; throws SyntaxError if it is not as expected. */
export type ChangesIn = (stdout: string) => readonly string[];

/** A command that runs again and again. */
export interface Part {
  /** In the log and in `/healthz`. */
  readonly name: string;
  /** The words after `host-local`. */
  readonly words: readonly string[];
  /** From start to start, in milliseconds. */
  readonly interval: number;
  /**
   * What is done with its standard output: nothing, unless it is what `--listen` serves, or lines for the log as they
   * are, or a function has them.
   */
  readonly output: "ignored" | "served" | "log" | ChangesIn;
}

/**
 * The parts that the options ask for.
 *
 * @throws UsageError if there are none, or an option has no effect
 */
export function partsOf(context: Context): readonly Part[] {
  const { option, has, operands } = context;
  const { gc, liveCommand, grace, gcInterval, keepInstalled, nodeFeature, resource } = agentOptions;
  const { as, output, interval } = agentOptions;
  for (const [part, options] of [
    [gc.name, [liveCommand, grace, gcInterval]],
    [keepInstalled.name, [as]],
    [nodeFeature.name, [resource]],
  ] as const) {
    for (const { name } of options) {
      if (option(name) !== undefined && !has(part) && option(part) === undefined) {
        throw new UsageError(`agent: ${name} requires ${part}`);
      }
    }
  }
  const every = intervalOf(context, interval.name, "1m");
  const found = (...more: readonly string[]): readonly string[] => [
    ...operands,
    ...networkOptions.flatMap(({ name }) => given(context, name)),
    ...more,
  ];
  const cache = given(context, cacheOption.name);
  const part = (name: string, words: readonly string[], rest: Partial<Part> = {}): Part => ({
    name,
    words,
    interval: every,
    output: "ignored",
    ...rest,
  });
  const parts: Part[] = [];
  // First: runtimes need the plugin, and gc may take long.
  const directory = option(keepInstalled.name);
  if (directory !== undefined) {
    const name = given(context, as.name);
    const words = ["install", directory, ...name, "--if-replaced", "--yes", "--json"];
    parts.push(part("install", words, { output: installationsIn }));
  }
  if (has(gc.name)) {
    const command = given(context, liveCommand.name);
    const source = command.length > 0 ? command : ["--by-netns"];
    const words = ["gc", ...found(...cache, ...source, ...given(context, grace.name))];
    parts.push(
      part("gc", [...words, "--yes", "--log"], {
        interval: intervalOf(context, gcInterval.name, "15m"),
        output: "log",
      }),
    );
  }
  if (option(nodeFeature.name) !== undefined) {
    const feature = [nodeFeature, resource].flatMap(({ name }) => given(context, name));
    parts.push(part("node-feature", ["capacity", ...found(...feature)]));
  }
  if (option(output.name) !== undefined) {
    const words = ["metrics", ...found(...cache, ...given(context, output.name))];
    parts.push(part("metrics-file", words));
  }
  if (option(listenOption.name) !== undefined) {
    parts.push(part("metrics", ["metrics", ...found(...cache)], { output: "served" }));
  }
  if (parts.length > 0) return parts;
  const names = [gc, output, listenOption, keepInstalled, nodeFeature].map(({ name }) => name);
  throw new UsageError(
    `agent: nothing to do; expected ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`,
  );
}

function given({ option }: Context, name: string): readonly string[] {
  const value = option(name);
  return value === undefined ? [] : [name, value];
}

/** In milliseconds. */
function intervalOf({ option }: Context, name: string, byDefault: string): number {
  const interval = parseDuration(option(name) ?? byDefault, name);
  if (interval > 0) return interval;
  throw new UsageError(`${name}: expected a duration of at least 1s, found ${option(name)}`);
}

/** What `install --json` has installed. */
function installationsIn(stdout: string): readonly string[] {
  const document = JSON.parse(stdout);
  if (textOf(member(document, "action")) !== "installed") return [];
  const kept = textOf(member(document, "kept"));
  const replaced = kept === "" ? "" : `; the file that was there is now ${kept}`;
  return [`installed ${textOf(member(document, "target"))} again${replaced}`];
}
