/** The log of a storm: every call, when it ran, and what it answered. */

/** A call that was made in a storm. Times are in milliseconds: before its start, and after its end was seen. */
export interface Operation {
  readonly network: string;
  readonly verb: "ADD" | "DEL" | "CHECK" | "GC" | "STATUS";
  readonly program: string;
  readonly start: number;
  readonly end: number;
  /** The container id, where the call is for one. */
  readonly attachment: string | undefined;
  /** The container ids that a GC got as valid. */
  readonly valid: ReadonlySet<string> | undefined;
  /** `killed` by the storm; `crashed` by itself; `hung` where it did not end in time. */
  readonly answer: "done" | "refused" | "killed" | "crashed" | "hung";
  /** What an ADD granted; also one that was killed when its result was out already. */
  readonly addresses: readonly string[];
  /** What it printed. */
  readonly text: string;
}

/** No more lines of a log are quoted. */
const LONGEST_EXCERPT = 30;

/** The calls of a network that had to do with an address or an attachment, a line each. */
export function excerpt(
  operations: readonly Operation[],
  network: string,
  { addresses, attachments }: Readonly<Record<"addresses" | "attachments", readonly string[]>>,
): string {
  const isConcerned = (operation: Operation): boolean =>
    operation.addresses.some((address) => addresses.includes(address)) ||
    (operation.attachment !== undefined && attachments.includes(operation.attachment)) ||
    (operation.valid !== undefined && attachments.some((one) => !operation.valid?.has(one)));
  const lines = operations
    .filter((operation) => operation.network === network && isConcerned(operation))
    .sort((a, b) => a.start - b.start)
    .map(lineOf);
  const left = lines.length - LONGEST_EXCERPT;
  const cut = left > 0 ? [`  … ${left} calls before`, ...lines.slice(left)] : lines;
  return `\n${cut.join("\n")}`;
}

/** One call in a line. */
export function lineOf(operation: Operation): string {
  const { verb, program, start, end, attachment, answer, addresses, text } = operation;
  const said = addresses.length > 0 ? addresses.join(" ") : text.replace(/\s+/g, " ").slice(0, 300);
  const who = attachment === undefined ? "" : ` ${attachment}`;
  return `  ${start.toFixed(1)} to ${end.toFixed(1)} ${program} ${verb}${who}: ${answer} ${said}`;
}
