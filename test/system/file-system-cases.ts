/** What every `System` does with files: one table for the real machine and the one in memory. */

import {
  isSystemError,
  type NamedFile,
  type System,
  SystemError,
} from "../../src/system/system.ts";
import { allPairs, decoded, hostileBytes } from "../harness/hostile-bytes.ts";

/** One call, or a few that belong together, in the empty directory `root`. */
export interface FileSystemCase {
  readonly name: string;
  /** Symbolic links that are in the directory before, with their targets in Latin-1: nothing in the program makes any. */
  readonly links?: Readonly<Record<string, string>>;
  /** Files that are in the directory before, with their contents, both as bytes in Latin-1: no text has all bytes. */
  readonly files?: Readonly<Record<string, string>>;
  readonly run: (system: System, root: string) => unknown;
  /** What `run` returns or, as text, the error that it throws; `root` is left out of paths. */
  readonly expected: unknown;
}

/** Runs a case; an error becomes its code and message. */
export function outcomeOf({ run }: FileSystemCase, system: System, root: string): unknown {
  try {
    return run(system, root);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return `${error.code} ${error.message.replaceAll(root, "")}`;
  }
}

const LIMIT = 100;

/** Of 256 bytes, one too many. */
const LONG_NAME = "é".repeat(128);

/** Calls that are refused, where `f` and `g` are files, `d` is a directory, and `no` and what `l` leads to are not there. */
const refusals: readonly (readonly [
  error: string,
  call: (system: System, at: (name: string) => string) => unknown,
])[] = [
  ["EEXIST open /f: file exists", (system, at) => system.createFile(at("f"), "", 0o600)],
  ["EEXIST open /d: file exists", (system, at) => system.createFile(at("d"), "", 0o600)],
  ["EEXIST open /l: file exists", (system, at) => system.createFile(at("l"), "", 0o600)],
  [missing("open", "no/a"), (system, at) => system.createFile(at("no/a"), "", 0o600)],
  ["ENOTDIR open /f/a: not a directory", (system, at) => system.createFile(at("f/a"), "", 0o600)],
  [tooLong("open"), (system, at) => system.createFile(at(LONG_NAME), "", 0o600)],
  [missing("open", "no"), (system, at) => system.readFile(at("no"), LIMIT)],
  ["EISDIR read /d: is a directory", (system, at) => system.readFile(at("d"), LIMIT)],
  ["EFBIG read /f: file too large", (system, at) => system.readFile(at("f"), 1)],
  ["EEXIST link /g: file exists", (system, at) => system.link(at("f"), at("g"))],
  ["EEXIST link /d: file exists", (system, at) => system.link(at("f"), at("d"))],
  ["EEXIST link /l: file exists", (system, at) => system.link(at("f"), at("l"))],
  [missing("link", "a"), (system, at) => system.link(at("no"), at("a"))],
  [missing("link", "no/a"), (system, at) => system.link(at("f"), at("no/a"))],
  ["EISDIR rename /d: is a directory", (system, at) => system.rename(at("f"), at("d"))],
  [missing("rename", "a"), (system, at) => system.rename(at("no"), at("a"))],
  [missing("unlink", "no"), (system, at) => system.unlink(at("no"))],
  ["EISDIR unlink /d: is a directory", (system, at) => system.unlink(at("d"))],
  [tooLong("unlink"), (system, at) => system.unlink(at(LONG_NAME))],
  ["ENOTDIR mkdir /f: not a directory", (system, at) => system.makeDirectories(at("f"))],
  ["ENOTDIR mkdir /f: not a directory", (system, at) => system.makeDirectories(at("f/a/b"))],
  ["ENOTDIR mkdir /l: not a directory", (system, at) => system.makeDirectories(at("l"))],
  ["ENOTDIR mkdir /loop: not a directory", (system, at) => system.makeDirectories(at("loop"))],
  [missing("open", "no"), (system, at) => system.list(at("no"))],
  ["ENOTDIR open /f: not a directory", (system, at) => system.list(at("f"))],
  [missing("stat", "no"), (system, at) => system.status(at("no"))],
  [missing("stat", "l"), (system, at) => system.status(at("l"))],
  ["ENOTDIR stat /f/a: not a directory", (system, at) => system.status(at("f/a"))],
  [missing("lstat", "no"), (system, at) => system.linkStatus(at("no"))],
  [missing("access", "no"), (system, at) => system.requireWritable(at("no"))],
  [missing("open", "no"), (system, at) => system.requireOpenable(at("no"), "read")],
  [missing("open", "l"), (system, at) => system.requireOpenable(at("l"), "read")],
  [throughLink("to-f"), (system, at) => system.requireOpenable(at("to-f"), "write")],
  ["EISDIR open /d: is a directory", (system, at) => system.requireOpenable(at("d"), "write")],
  [missing("open", "no"), (system, at) => system.overwriteFile(at("no"), "")],
  ["EISDIR open /d: is a directory", (system, at) => system.overwriteFile(at("d"), "")],
  [throughLink("to-f"), (system, at) => system.overwriteFile(at("to-f"), "")],
  [missing("open", "no"), (system, at) => system.extendFile(at("no"), "x", "y")],
  [throughLink("l"), (system, at) => system.extendFile(at("l"), "x", "y")],
  [missing("open", "no/a"), (system, at) => system.appendLine(at("no/a"), "x\n", 0o600)],
  ["EISDIR open /d: is a directory", (system, at) => system.appendLine(at("d"), "x\n", 0o600)],
  [throughLink("l"), (system, at) => system.appendLine(at("l"), "x\n", 0o600)],
  [throughLink("to-f"), (system, at) => system.appendLine(at("to-f"), "x\n", 0o600)],
  [throughLink("l"), (system, at) => system.findLines(at("l"), undefined)],
  [missing("readlink", "no"), (system, at) => system.readLink(at("no"))],
  ["EINVAL readlink /f: invalid argument", (system, at) => system.readLink(at("f"))],
  ["ENOTDIR readlink /f/a: not a directory", (system, at) => system.readLink(at("f/a"))],
  [tooLong("readlink"), (system, at) => system.readLink(at(LONG_NAME))],
  [missing("utimensat", "no"), (system, at) => system.setModified(at("no"), 0n)],
  [missing("open", "no"), (system, at) => system.readFiles(at("no"), LIMIT, false)],
  [
    missing("open", "no/lock"),
    (system, at) => system.lock({ file: at("no/lock"), directory: at("own"), timeout: 0 }),
  ],
];

function missing(word: string, name: string): string {
  return `ENOENT ${word} /${name}: no such file or directory`;
}

function tooLong(word: string): string {
  return `ENAMETOOLONG ${word} /${LONG_NAME}: file name too long`;
}

/** The content of a file, or the name of the errno why it cannot be read. */
function contentOf({ file }: NamedFile): string {
  const content = file instanceof SystemError ? file : file.content;
  return typeof content === "string" ? content : content.code;
}

function throughLink(name: string): string {
  return `ELOOP open /${name}: too many levels of symbolic links`;
}

const refused: readonly FileSystemCase[] = refusals.map(([error, call]) => ({
  name: `a call is refused: ${error}`,
  links: { l: "nowhere", loop: "loop", "to-f": "f" },
  run: (system, root) => {
    for (const name of ["f", "g"]) system.createFile(`${root}/${name}`, "é", 0o600);
    system.makeDirectories(`${root}/d`);
    call(system, (name) => `${root}/${name}`);
  },
  expected: error,
}));

export const fileSystemCases: readonly FileSystemCase[] = [
  ...refused,
  {
    name: "a created file can be read, if it has no more bytes than the limit",
    run: (system, root) => {
      system.createFile(`${root}/a`, "é\r\n", 0o600);
      return system.readFile(`${root}/a`, 4);
    },
    expected: "é\r\n",
  },
  {
    name: "in a file, U+FFFD stands for each byte that begins no character",
    files: { ...Object.fromEntries(hostileBytes.entries()), pairs: allPairs },
    run: (system, root) => [
      ...hostileBytes.map((_, at) => system.readFile(`${root}/${at}`, 1000)),
      system.readFile(`${root}/pairs`, 1_000_000),
    ],
    expected: [...hostileBytes, allPairs].map(decoded),
  },
  {
    name: "so it does in lines",
    files: { a: "f\xb0\nc1 a\xb0\nc1 b\xe2\x82\nc1 c\xff\nc1 d\n" },
    run: (system, root) => {
      const { first, found } = system.findLines(`${root}/a`, "c1 ");
      return [first, ...found];
    },
    expected: ["f\ufffd", "c1 a\ufffd", "c1 b\ufffd\ufffd", "c1 c\ufffd", "c1 d"],
  },
  {
    name: "so it does in names, which are those of no address",
    files: { "10.0.0.2\xb0": "", "10.0.0.3\xe2\x82": "", "\xb010.0.0.4": "", "10.0.0.5": "" },
    run: (system, root) => {
      const { quads, others } = system.listAddresses(root);
      return [[...system.list(root)].sort(), quads, [...others].sort()];
    },
    expected: [
      ["10.0.0.2\ufffd", "10.0.0.3\ufffd\ufffd", "10.0.0.5", "\ufffd10.0.0.4"],
      [167772165],
      ["10.0.0.2\ufffd", "10.0.0.3\ufffd\ufffd", "\ufffd10.0.0.4"],
    ],
  },
  {
    name: "so it does in files that are read at once, which are no usual ones",
    files: { "10.0.0.2": "c1\xb0\r\neth0", "10.0.0.3": "c1\r\neth\xb0", "10.0.0.4": "c1\xe2\x82" },
    run: (system, root) => {
      const { usual, others } = system.readFiles(root, LIMIT, false);
      return [usual, others.map((one) => [one.name, contentOf(one)]).sort()];
    },
    expected: [
      "",
      [
        ["10.0.0.2", "c1\ufffd\r\neth0"],
        ["10.0.0.3", "c1\r\neth\ufffd"],
        ["10.0.0.4", "c1\ufffd\ufffd"],
      ],
    ],
  },
  {
    name: "so it does in the target of a link",
    links: { a: "b\xe2\x82/c" },
    run: (system, root) => system.readLink(`${root}/a`),
    expected: "b\ufffd\ufffd/c",
  },
  {
    name: "a hard link is the same file under another name",
    run: (system, root) => {
      system.createFile(`${root}/a`, "content", 0o600);
      system.link(`${root}/a`, `${root}/b`);
      const same = system.status(`${root}/a`).inode === system.status(`${root}/b`).inode;
      system.unlink(`${root}/a`);
      return { same, content: system.readFile(`${root}/b`, LIMIT), names: system.list(root) };
    },
    expected: { same: true, content: "content", names: ["b"] },
  },
  {
    name: "a rename replaces a file",
    run: (system, root) => {
      system.createFile(`${root}/a`, "new", 0o600);
      system.createFile(`${root}/b`, "old", 0o600);
      system.rename(`${root}/a`, `${root}/b`);
      return { content: system.readFile(`${root}/b`, LIMIT), names: system.list(root) };
    },
    expected: { content: "new", names: ["b"] },
  },
  {
    name: "a removed file is gone",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.unlink(`${root}/a`);
      return system.list(root);
    },
    expected: [],
  },
  {
    name: "directories are made with their parents, and again without an error",
    run: (system, root) => {
      system.makeDirectories(`${root}/a/b`);
      system.makeDirectories(`${root}/a/b`);
      return system.status(`${root}/a/b`).kind;
    },
    expected: "directory",
  },
  {
    name: "a directory lists its files and directories",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.makeDirectories(`${root}/b/c`);
      return [...system.list(root)].sort();
    },
    expected: ["a", "b"],
  },
  {
    name: "the status of a file has its kind and its size in bytes",
    run: (system, root) => {
      system.createFile(`${root}/a`, "é", 0o600);
      const { kind, size } = system.status(`${root}/a`);
      return { kind, size };
    },
    expected: { kind: "file", size: 2 },
  },
  {
    name: "the status of a file tells how many names it has",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      const one = system.status(`${root}/a`).links;
      system.link(`${root}/a`, `${root}/b`);
      return [one, system.status(`${root}/b`).links, system.linkStatus(`${root}/a`).links];
    },
    expected: [1, 2, 2],
  },
  {
    name: "a file belongs to who makes it, and has the mode that it was made with; a link has every permission",
    links: { c: "a" },
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o640);
      system.makeDirectories(`${root}/b`, 0o700);
      return ["a", "b", "c"].map((name) => {
        const { kind, mode, user } = system.permissions(`${root}/${name}`);
        return [kind, mode, user === system.userId()];
      });
    },
    expected: [
      ["file", 0o640, true],
      ["directory", 0o700, true],
      ["other", 0o777, true],
    ],
  },
  {
    name: "the times of a new file are those of the clock, in nanoseconds",
    run: (system, root) => {
      const now = BigInt(system.now()) * 1_000_000n;
      system.createFile(`${root}/a`, "", 0o600);
      const { modified, changed } = system.status(`${root}/a`);
      return [modified, changed].map((time) => now - time < 10n ** 9n && time - now < 10n ** 9n);
    },
    expected: [true, true],
  },
  {
    name: "files of one directory are on one device",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.makeDirectories(`${root}/b`);
      return system.status(`${root}/a`).device === system.status(`${root}/b`).device;
    },
    expected: true,
  },
  {
    name: "a directory of one's own is writable",
    run: (system, root) => system.requireWritable(root),
    expected: undefined,
  },
  {
    name: "what can be opened is left as it is",
    run: (system, root) => {
      system.createFile(`${root}/a`, "text", 0o600);
      for (const use of ["read", "write"] as const) system.requireOpenable(`${root}/a`, use);
      return system.readFile(`${root}/a`, LIMIT);
    },
    expected: "text",
  },
  {
    name: "a file is overwritten in place",
    run: (system, root) => {
      system.createFile(`${root}/a`, "longer than that", 0o640);
      const before = system.status(`${root}/a`).inode;
      system.overwriteFile(`${root}/a`, "é");
      const same = system.status(`${root}/a`).inode === before;
      const short = system.readFile(`${root}/a`, LIMIT);
      system.overwriteFile(`${root}/a`, "longer again");
      return [same, short, system.readFile(`${root}/a`, LIMIT)];
    },
    expected: [true, "é", "longer again"],
  },
  {
    name: "overwriting a file does not show in its directory",
    run: (system, root) => {
      system.createFile(`${root}/a`, "old", 0o600);
      system.setModified(root, 1_000_000_000n);
      const before = system.status(root);
      system.overwriteFile(`${root}/a`, "new");
      const after = system.status(root);
      return [after.modified === before.modified, after.changed === before.changed];
    },
    expected: [true, true],
  },
  {
    name: "a name has up to 255 bytes",
    run: (system, root) => {
      system.createFile(`${root}/${"é".repeat(127)}a`, "1", 0o600);
      return system.readFile(`${root}/${"é".repeat(127)}a`, LIMIT);
    },
    expected: "1",
  },
  {
    name: "a symbolic link is removed, not its target",
    links: { b: "a" },
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.unlink(`${root}/b`);
      return system.list(root);
    },
    expected: ["a"],
  },
  {
    name: "a dangling link has a link status and a target",
    links: { a: "10.0.0.2 2001:db8::2" },
    run: (system, root) => [system.linkStatus(`${root}/a`).kind, system.readLink(`${root}/a`)],
    expected: ["other", "10.0.0.2 2001:db8::2"],
  },
  {
    name: "linkStatus is the same as status for files and directories",
    run: (system, root) => {
      system.createFile(`${root}/a`, "é", 0o600);
      system.makeDirectories(`${root}/b`);
      const { kind, size, inode } = system.linkStatus(`${root}/a`);
      const same = inode === system.status(`${root}/a`).inode;
      return [kind, size, same, system.linkStatus(`${root}/b`).kind];
    },
    expected: ["file", 2, true, "directory"],
  },
  {
    name: "the modification time is set to a fraction of a millisecond, the change time by the clock",
    run: (system, root) => {
      system.makeDirectories(`${root}/a`);
      const now = BigInt(system.now()) * 1_000_000n;
      system.setModified(`${root}/a`, 1_234_567_890_123_456n);
      const { modified, changed } = system.status(`${root}/a`);
      return [modified / 10_000n, modified % 1_000_000n !== 0n, now - changed < 10n ** 9n];
    },
    expected: [123_456_789_012n, true, true],
  },
  {
    name: "a name that comes or goes shows in the directory's times",
    run: (system, root) => {
      const shows = (change: () => void): boolean => {
        system.setModified(root, 1_000_000_000n);
        change();
        return system.status(root).modified !== 1_000_000_000n;
      };
      return [
        shows(() => system.createFile(`${root}/a`, "", 0o600)),
        shows(() => system.link(`${root}/a`, `${root}/b`)),
        shows(() => system.rename(`${root}/b`, `${root}/c`)),
        shows(() => system.unlink(`${root}/a`)),
      ];
    },
    expected: [true, true, true, true],
  },
  {
    name: "what happens one level below does not show in a directory's times",
    run: (system, root) => {
      system.makeDirectories(`${root}/a`);
      system.setModified(root, 1_000_000_000n);
      system.createFile(`${root}/a/b`, "", 0o600);
      return system.status(root).modified;
    },
    expected: 1_000_000_000n,
  },
  {
    name: "lines are found by their beginning, the first always; what has no end is no line",
    run: (system, root) => {
      system.createFile(`${root}/a`, "first\nc1 x\nc10 y\nc1 é\n c1 z\nc1 cut", 0o600);
      return [
        system.findLines(`${root}/a`, "c1 "),
        system.findLines(`${root}/a`, "first"),
        system.findLines(`${root}/a`, undefined),
      ];
    },
    expected: [
      { first: "first", found: ["c1 x", "c1 é"], size: 35 },
      { first: "first", found: [], size: 35 },
      { first: "first", found: [], size: 35 },
    ],
  },
  {
    name: "lines are found by what is in them, each once and in their order",
    run: (system, root) => {
      system.createFile(`${root}/a`, "x and x\nyes\n\nlast x\ncut x", 0o600);
      return [system.linesWith(`${root}/a`, "x"), system.linesWith(`${root}/a`, "none")];
    },
    expected: [["x and x", "last x"], []],
  },
  {
    name: "a file without a line end has no lines",
    run: (system, root) => {
      system.createFile(`${root}/a`, "c1 x", 0o600);
      return system.findLines(`${root}/a`, "c1 ");
    },
    expected: { first: "", found: [], size: 4 },
  },
  {
    name: "a file with NUL has no lines, wherever it is",
    run: (system, root) => {
      const line = `c1 ${"x".repeat(100)}\n`;
      system.createFile(`${root}/a`, `first\n${line}c\0 y\n`, 0o600);
      system.createFile(`${root}/b`, `first\n${line.repeat(10_000)}\0`, 0o600);
      return ["a", "b"].map((name) => system.findLines(`${root}/${name}`, "c1 "));
    },
    expected: [
      { first: "", found: [], size: 115 },
      { first: "", found: [], size: 1_040_007 },
    ],
  },
  {
    name: "a line may be longer than the longest reservation",
    run: (system, root) => {
      const line = `${"c".repeat(256 * 1024)} / 10.0.0.2`;
      system.createFile(`${root}/a`, `first\n${line}\n`, 0o600);
      return system.findLines(`${root}/a`, "ccc").found[0] === line;
    },
    expected: true,
  },
  {
    name: "a file is extended at its end, then overwritten at its beginning",
    run: (system, root) => {
      system.createFile(`${root}/a`, "0123\nline\n", 0o600);
      system.extendFile(`${root}/a`, "é\n", "abcd\n");
      system.extendFile(`${root}/a`, "", "ABCD");
      return system.readFile(`${root}/a`, LIMIT);
    },
    expected: "ABCD\nline\né\n",
  },
  {
    name: "a line is appended to a file, which is made with its mode where it is missing",
    run: (system, root) => {
      system.appendLine(`${root}/a`, "é\n", 0o600);
      system.appendLine(`${root}/a`, "b\n", 0o644);
      return [system.readFile(`${root}/a`, LIMIT), system.permissions(`${root}/a`).mode];
    },
    expected: ["é\nb\n", 0o600],
  },
  {
    name: "all files named like addresses are read at once: those of two words as lines, every other as it is",
    run: (system, root) => {
      const contents = {
        "10.0.0.2": "c1\r\neth0",
        "2001:db8::2": "c_2.x-\r\n!@~",
        "10.0.0.3": "c1",
        "10.0.0.4": "c1\r\neth0\n",
        "10.0.0.5": "c1\r\n..",
        "10.0.0.6": "-c\r\neth0",
        "10.0.0.7": "c1\r\na:b",
        "10.0.0.8": "c1\r\n0123456789abcdef",
        "10.0.0.9": "c1\r\neth0\0",
        lock: "c1\r\neth0",
        "a b": "c1\r\neth0",
      };
      for (const [name, text] of Object.entries(contents)) {
        system.createFile(`${root}/${name}`, text, 0o600);
      }
      system.makeDirectories(`${root}/10.0.0.10`);
      const { usual, count, others } = system.readFiles(root, LIMIT, false);
      const told = others.map((one) => [one.name, contentOf(one)]);
      return [usual.split("\n").sort(), count, told.sort()];
    },
    expected: [
      ["", "c1 eth0 10.0.0.2", "c_2.x- !@~ 2001:db8::2"],
      2,
      [
        ["10.0.0.10", "EISDIR"],
        ["10.0.0.3", "c1"],
        ["10.0.0.4", "c1\r\neth0\n"],
        ["10.0.0.5", "c1\r\n.."],
        ["10.0.0.6", "-c\r\neth0"],
        ["10.0.0.7", "c1\r\na:b"],
        ["10.0.0.8", "c1\r\n0123456789abcdef"],
        ["10.0.0.9", "c1\r\neth0\0"],
      ],
    ],
  },
  {
    name: "a file that is too large cannot be read with the others",
    run: (system, root) => {
      system.createFile(`${root}/10.0.0.2`, "x".repeat(LIMIT + 1), 0o600);
      const [other] = system.readFiles(root, LIMIT, false).others;
      return other && contentOf(other);
    },
    expected: "EFBIG",
  },
  {
    name: "with their statuses, which are those of each file alone",
    links: { "10.0.0.4": "nowhere" },
    run: (system, root) => {
      const numbers = { "2001:db8::2": "", "10.0.0.3": "167772163", "10.0.0.20": "167772180" };
      for (const name of Object.keys(numbers).toReversed()) {
        system.createFile(`${root}/${name}`, "c1\r\neth0", 0o600);
        system.setModified(`${root}/${name}`, 1_700_000_000_123_456_000n);
      }
      system.makeDirectories(`${root}/10.0.0.5`);
      const { usual, count, others } = system.readFiles(root, LIMIT, true);
      const told = Object.entries(numbers).map(([name, number]) => {
        const { inode, modified, changed } = system.status(`${root}/${name}`);
        return `c1 eth0 ${name} ${inode},${modified} ${changed} ${number}\n`;
      });
      const kinds = others.map(({ name, file }) => [name, "kind" in file && file.kind]);
      return [usual === told.join("") || usual, count, kinds.sort()];
    },
    expected: [
      true,
      3,
      [
        ["10.0.0.4", "other"],
        ["10.0.0.5", "directory"],
      ],
    ],
  },
  {
    name: "names of IPv4 addresses are listed as numbers",
    run: (system, root) => {
      const names = ["10.0.0.9", "0.0.0.2", "255.255.255.255", "10.0.0.10", "2001:db8::1", "lock"];
      const odd = ["10.0.0.09", "10.0.0.256", "10.0.0", "10.0.0.1.", " 10.0.0.1", "10.0.0.1\n"];
      for (const name of [...names, ...odd]) system.createFile(`${root}/${name}`, "", 0o600);
      system.makeDirectories(`${root}/10.0.0.11`);
      const { quads, others } = system.listAddresses(root);
      return [quads, [...others].sort()];
    },
    expected: [
      [2, 167772169, 167772170, 167772171, 4294967295],
      [
        " 10.0.0.1",
        "10.0.0",
        "10.0.0.09",
        "10.0.0.1\n",
        "10.0.0.1.",
        "10.0.0.256",
        "2001:db8::1",
        "lock",
      ],
    ],
  },
  {
    name: "the lock makes the Go plugin's file, which stays",
    run: (system, root) => {
      system.makeDirectories(`${root}/net`);
      const { release } = system.lock({
        file: `${root}/net/lock`,
        directory: `${root}/own/net`,
        timeout: 0,
      });
      release();
      return [system.readFile(`${root}/net/lock`, LIMIT), system.list(`${root}/net`)];
    },
    expected: ["", ["lock"]],
  },
];
