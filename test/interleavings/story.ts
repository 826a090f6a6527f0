/** A schedule that breaks a rule, as a story: who does what, in order. */

import type { Violation } from "./search.ts";

const DIRECTORY = "/var/lib/cni/networks/";

/** The broken rules, and one line for each turn of a process: its changes and its failures; reads are counted. */
export function story({ steps, broken }: Violation): string {
  const lines: { readonly who: string; readonly acts: string[] }[] = [];
  let reads = 0;
  const flush = (): void => {
    if (reads > 0) lines.at(-1)?.acts.push(`reads ${reads}×`);
    reads = 0;
  };
  const numbers = [...new Set(steps.map(({ number }) => number))];
  for (const { program, number, operation, reply, fault } of steps) {
    const who = program === undefined ? "" : `${numbers.indexOf(number) + 1} ${program.name}`;
    if (lines.at(-1)?.who !== who) {
      flush();
      lines.push({ who, acts: [] });
    }
    const acts = lines.at(-1)?.acts;
    const isRead =
      operation?.reach !== "changes" && fault === undefined && operation?.path !== "/dev/stdout";
    if (isRead) {
      reads++;
      continue;
    }
    flush();
    const what =
      operation === undefined ? "" : textOf(operation.word, operation.path, operation.text);
    const error = reply?.error === undefined ? "" : `: ${reply.error.message.replace(/^.*: /, "")}`;
    acts?.push(
      `${fault === undefined ? "" : `${fault.toUpperCase()} ${operation === undefined ? "" : "at "}`}${what}${error}`,
    );
  }
  flush();
  const turns = lines.map(({ who, acts }) => `${who === "" ? "" : `${who}: `}${acts.join("; ")}`);
  return [...broken, ...turns].join("\n");
}

function textOf(word: string, path: string, text: string): string {
  if (path === "/dev/stdout") return /"(?:msg)"/.test(text) ? "answers an error" : "answers";
  const name = path.replace(DIRECTORY, "");
  if (word !== "link" && word !== "rename") return `${word} ${name}`;
  return `${word} ${text.split(" ")[2]?.replace(DIRECTORY, "")} ${name}`;
}
