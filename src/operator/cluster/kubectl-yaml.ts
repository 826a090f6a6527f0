/**
 * Reads YAML as kubectl prints it, a line for each member, and only what is asked for. The yaml package takes a minute
 * for 5000 nodes, since it reads all of YAML, and most of a node is of no interest here. Where a line is not as kubectl
 * prints it, this gives up, and that package reads the text.
 */

/** What is asked for: a text, the elements of a list, or members of a mapping. */
export type CidrRequest =
  | "text"
  | readonly [CidrRequest]
  | { readonly [name: string]: CidrRequest };

/** The text is not as kubectl prints it. */
class OtherLayout extends Error {}

/** The text, and how far it has been read. Lines are cut out only where they are of interest: most are passed over. */
interface Reader {
  readonly text: string;
  /** Where the line after the present one begins. */
  next: number;
  /** The present line, which is not empty; `undefined` at the end. */
  line: string | undefined;
  /** How many blanks it begins with; -1 at the end and at `---`. */
  indent: number;
}

const LINE_END = 0x0a;

const DOCUMENT_START = "---";

const MEMBER = /^([A-Za-z0-9][^\s:"'#]*):(?: +(.*))?$/;

/** Numbers and words that YAML does not take for anything but themselves; all that is read here is used as text. */
const PLAIN = /^[A-Za-z0-9](?:[\w.:/+-]*[\w./+-])?$/;

/**
 * Reads the documents.
 *
 * @param text lines of block style
 * @param wish what is asked for of each document
 * @returns for each document an object of what was asked for and found; `undefined` where the layout is another
 */
export function readKubectlYaml(
  text: string,
  request: CidrRequest,
): readonly unknown[] | undefined {
  const reader: Reader = { text, next: 0, line: undefined, indent: -1 };
  const documents: unknown[] = [];
  try {
    advance(reader);
    while (reader.line !== undefined) {
      // A list is no mapping, which would be read without end.
      if (isElement(reader, 0)) return undefined;
      if (reader.line === DOCUMENT_START) advance(reader);
      else documents.push(readMapping(reader, 0, request));
    }
  } catch (error) {
    if (error instanceof OtherLayout) return undefined;
    throw error;
  }
  return documents;
}

function readMapping(reader: Reader, indent: number, request: CidrRequest): object {
  const members: Record<string, unknown> = {};
  while (reader.line !== undefined && reader.indent >= indent && !isElement(reader, indent)) {
    const [, name = "", value = ""] = MEMBER.exec(reader.line.slice(indent)) ?? [];
    // This also refuses a line that stands deeper.
    if (name === "") throw new OtherLayout();
    const wanted =
      typeof request === "object" ? Object.getOwnPropertyDescriptor(request, name) : undefined;
    if (wanted === undefined) {
      passBelow(reader, indent);
    } else {
      advance(reader);
      members[name] = readValue(reader, indent, value, wanted.value);
    }
  }
  return members;
}

/** What stands behind a name, or below it. */
function readValue(reader: Reader, indent: number, value: string, request: CidrRequest): unknown {
  if (request === "text") return readText(reader, indent, value);
  if (value === "[]" || value === "{}" || value === "null") return undefined;
  if (value !== "") throw new OtherLayout();
  const deeper = reader.indent;
  if (!Array.isArray(request)) {
    return deeper > indent ? readMapping(reader, deeper, request) : undefined;
  }
  const [wanted] = request;
  const elements: unknown[] = [];
  while (deeper >= indent && isElement(reader, deeper)) {
    elements.push(readElement(reader, deeper, wanted));
  }
  return elements;
}

function readElement(reader: Reader, indent: number, request: CidrRequest): unknown {
  const content = reader.line?.slice(indent + 2) ?? "";
  if (request === "text") {
    advance(reader);
    return readText(reader, indent, content);
  }
  // The first member stands behind the dash, as if that were a blank.
  reader.line = `${" ".repeat(indent + 2)}${content}`;
  reader.indent = indentOf(reader.line);
  return readMapping(reader, indent + 2, request);
}

function readText(reader: Reader, indent: number, value: string): string | undefined {
  // The text goes on, or is no text.
  if (reader.indent > indent) throw new OtherLayout();
  if (value === "" || value === "null") return undefined;
  if (PLAIN.test(value)) return value;
  if (/^"[^"\\]*"$/.test(value) || /^'[^']*'$/.test(value)) return value.slice(1, -1);
  throw new OtherLayout();
}

/** Goes on to the next line that is not empty. */
function advance(reader: Reader): void {
  const { text } = reader;
  let begin = reader.next;
  while (text.charCodeAt(begin) === LINE_END) begin++;
  const end = text.indexOf("\n", begin);
  reader.next = end < 0 ? text.length : end + 1;
  reader.line = begin < text.length ? text.slice(begin, end < 0 ? text.length : end) : undefined;
  const isEnd = reader.line === undefined || reader.line === DOCUMENT_START;
  reader.indent = isEnd ? -1 : indentOf(reader.line ?? "");
}

/** Goes on to the next line that does not stand below a member, of which nothing is asked for, whatever it is. */
function passBelow(reader: Reader, indent: number): void {
  const { text } = reader;
  const deeper = " ".repeat(indent + 1);
  const element = `${" ".repeat(indent)}- `;
  let begin = reader.next;
  while (
    text.startsWith(deeper, begin) ||
    text.startsWith(element, begin) ||
    text.charCodeAt(begin) === LINE_END
  ) {
    const end = text.indexOf("\n", begin);
    begin = end < 0 ? text.length : end + 1;
  }
  reader.next = begin;
  advance(reader);
}

function indentOf(line: string): number {
  let indent = 0;
  while (line.charCodeAt(indent) === 0x20) indent++;
  return indent;
}

/** Whether the present line begins an element of a list at this depth. */
function isElement({ line, indent }: Reader, depth: number): boolean {
  return indent === depth && line !== undefined && line.startsWith("- ", depth);
}
