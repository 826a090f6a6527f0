/** What every `System` does with files: one table for the real machine and the one in memory. */

import { isSystemError, type System } from "../../src/system/system.ts";

/** One call, or a few that belong together, in the empty directory `root`. */
export interface FileSystemCase {
  readonly name: string;
  /** Symbolic links that are in the directory before, with their targets: nothing in the program makes any. */
  readonly links?: Readonly<Record<string, string>>;
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

export const fileSystemCases: readonly FileSystemCase[] = [
  {
    name: "a created file can be read",
    run: (system, root) => {
      system.createFile(`${root}/a`, "é\r\n", 0o600);
      return system.readFile(`${root}/a`, LIMIT);
    },
    expected: "é\r\n",
  },
  {
    name: "a file is created exclusively",
    run: (system, root) => {
      system.createFile(`${root}/a`, "first", 0o600);
      system.createFile(`${root}/a`, "second", 0o600);
    },
    expected: "EEXIST open /a: file exists",
  },
  {
    name: "nothing is created where a directory stands",
    run: (system, root) => {
      system.makeDirectories(`${root}/a`);
      system.createFile(`${root}/a`, "", 0o600);
    },
    expected: "EEXIST open /a: file exists",
  },
  {
    name: "nothing is created in a missing directory",
    run: (system, root) => system.createFile(`${root}/no/a`, "", 0o600),
    expected: "ENOENT open /no/a: no such file or directory",
  },
  {
    name: "nothing is created below a file",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.createFile(`${root}/a/b`, "", 0o600);
    },
    expected: "ENOTDIR open /a/b: not a directory",
  },
  {
    name: "a missing file cannot be read",
    run: (system, root) => system.readFile(`${root}/a`, LIMIT),
    expected: "ENOENT open /a: no such file or directory",
  },
  {
    name: "a directory cannot be read as a file",
    run: (system, root) => system.readFile(root, LIMIT),
    expected: "EISDIR read : is a directory",
  },
  {
    name: "a file of as many bytes as the limit can be read",
    run: (system, root) => {
      system.createFile(`${root}/a`, "é", 0o600);
      return system.readFile(`${root}/a`, 2);
    },
    expected: "é",
  },
  {
    name: "a file of more bytes than the limit cannot be read",
    run: (system, root) => {
      system.createFile(`${root}/a`, "é", 0o600);
      return system.readFile(`${root}/a`, 1);
    },
    expected: "EFBIG read /a: file too large",
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
    name: "a link does not replace a file",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.createFile(`${root}/b`, "", 0o600);
      system.link(`${root}/a`, `${root}/b`);
    },
    expected: "EEXIST link /b: file exists",
  },
  {
    name: "a link does not replace a directory",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.makeDirectories(`${root}/b`);
      system.link(`${root}/a`, `${root}/b`);
    },
    expected: "EEXIST link /b: file exists",
  },
  {
    name: "a missing file cannot be linked",
    run: (system, root) => system.link(`${root}/a`, `${root}/b`),
    expected: "ENOENT link /b: no such file or directory",
  },
  {
    name: "a file cannot be linked into a missing directory",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.link(`${root}/a`, `${root}/no/b`);
    },
    expected: "ENOENT link /no/b: no such file or directory",
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
    name: "a rename does not replace a directory",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.makeDirectories(`${root}/b`);
      system.rename(`${root}/a`, `${root}/b`);
    },
    expected: "EISDIR rename /b: is a directory",
  },
  {
    name: "a missing file cannot be renamed",
    run: (system, root) => system.rename(`${root}/a`, `${root}/b`),
    expected: "ENOENT rename /b: no such file or directory",
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
    name: "a missing file cannot be removed",
    run: (system, root) => system.unlink(`${root}/a`),
    expected: "ENOENT unlink /a: no such file or directory",
  },
  {
    name: "a directory cannot be removed as a file",
    run: (system, root) => {
      system.makeDirectories(`${root}/a`);
      system.unlink(`${root}/a`);
    },
    expected: "EISDIR unlink /a: is a directory",
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
    name: "a directory cannot be made where a file stands",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.makeDirectories(`${root}/a`);
    },
    expected: "ENOTDIR mkdir /a: not a directory",
  },
  {
    name: "a directory cannot be made where a dangling link is",
    links: { a: "nowhere" },
    run: (system, root) => {
      system.makeDirectories(`${root}/a`);
    },
    expected: "ENOTDIR mkdir /a: not a directory",
  },
  {
    name: "a directory cannot be made where a link leads to itself",
    links: { a: "a" },
    run: (system, root) => {
      system.makeDirectories(`${root}/a`);
    },
    expected: "ENOTDIR mkdir /a: not a directory",
  },
  {
    name: "a directory cannot be made below a file",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.makeDirectories(`${root}/a/b/c`);
    },
    expected: "ENOTDIR mkdir /a: not a directory",
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
    name: "a missing directory cannot be listed",
    run: (system, root) => system.list(`${root}/a`),
    expected: "ENOENT open /a: no such file or directory",
  },
  {
    name: "a file cannot be listed",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      return system.list(`${root}/a`);
    },
    expected: "ENOTDIR open /a: not a directory",
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
    name: "a missing file has no status",
    run: (system, root) => system.status(`${root}/a`),
    expected: "ENOENT stat /a: no such file or directory",
  },
  {
    name: "nothing below a file has a status",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      return system.status(`${root}/a/b`);
    },
    expected: "ENOTDIR stat /a/b: not a directory",
  },
  {
    name: "a directory of one's own is writable",
    run: (system, root) => system.requireWritable(root),
    expected: undefined,
  },
  {
    name: "a missing directory is not writable",
    run: (system, root) => system.requireWritable(`${root}/a`),
    expected: "ENOENT access /a: no such file or directory",
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
    name: "a missing file is not overwritten",
    run: (system, root) => system.overwriteFile(`${root}/a`, ""),
    expected: "ENOENT open /a: no such file or directory",
  },
  {
    name: "a directory is not overwritten",
    run: (system, root) => {
      system.makeDirectories(`${root}/a`);
      system.overwriteFile(`${root}/a`, "");
    },
    expected: "EISDIR open /a: is a directory",
  },
  {
    name: "the target of a symbolic link is not overwritten",
    links: { b: "a" },
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.overwriteFile(`${root}/b`, "");
    },
    expected: "ELOOP open /b: too many levels of symbolic links",
  },
  {
    name: "a symbolic link may have any target",
    links: { "c1:eth0": "10.0.0.2 2001:db8::2" },
    run: (system, root) => {
      return [system.readLink(`${root}/c1:eth0`), system.list(root)];
    },
    expected: ["10.0.0.2 2001:db8::2", ["c1:eth0"]],
  },
  {
    name: "the target of a symbolic link has up to 4095 bytes",
    links: { a: "a".repeat(4095) },
    run: (system, root) => system.readLink(`${root}/a`).length,
    expected: 4095,
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
    name: "a name has no more than 255 bytes",
    run: (system, root) => {
      const names = [
        () => system.createFile(`${root}/${"é".repeat(128)}`, "", 0o600),
        () => system.readLink(`${root}/${"é".repeat(128)}`),
        () => system.unlink(`${root}/${"é".repeat(128)}`),
      ];
      return names.map((call) => outcomeOf({ name: "", run: call, expected: "" }, system, root));
    },
    expected: ["open", "readlink", "unlink"].map(
      (word) => `ENAMETOOLONG ${word} /${"é".repeat(128)}: file name too long`,
    ),
  },
  {
    name: "a missing link cannot be read",
    run: (system, root) => system.readLink(`${root}/a`),
    expected: "ENOENT readlink /a: no such file or directory",
  },
  {
    name: "a file is not a link",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.readLink(`${root}/a`);
    },
    expected: "EINVAL readlink /a: invalid argument",
  },
  {
    name: "nothing below a file is a link",
    run: (system, root) => {
      system.createFile(`${root}/a`, "", 0o600);
      system.readLink(`${root}/a/b`);
    },
    expected: "ENOTDIR readlink /a/b: not a directory",
  },
  {
    name: "a rename replaces a symbolic link by another",
    links: { a: "old", b: "new" },
    run: (system, root) => {
      system.rename(`${root}/b`, `${root}/a`);
      return [system.readLink(`${root}/a`), system.list(root)];
    },
    expected: ["new", ["a"]],
  },
  {
    name: "a further name of a symbolic link is that of the link",
    links: { a: "nowhere" },
    run: (system, root) => {
      system.link(`${root}/a`, `${root}/b`);
      return system.readLink(`${root}/b`);
    },
    expected: "nowhere",
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
    name: "a dangling link has a link status but no status",
    links: { a: "nowhere" },
    run: (system, root) => {
      const { kind } = system.linkStatus(`${root}/a`);
      const behind = outcomeOf(
        { name: "", run: () => system.status(`${root}/a`), expected: "" },
        system,
        root,
      );
      return [kind, behind];
    },
    expected: ["other", "ENOENT stat /a: no such file or directory"],
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
    name: "a missing file has no link status",
    run: (system, root) => system.linkStatus(`${root}/a`),
    expected: "ENOENT lstat /a: no such file or directory",
  },
  {
    name: "the time of modification is set to a fraction of a millisecond; that of change is the clock's",
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
    name: "the time of a missing file cannot be set",
    run: (system, root) => system.setModified(`${root}/a`, 0n),
    expected: "ENOENT utimensat /a: no such file or directory",
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
    name: "lines are found by what they begin with; the first is always told, and what has no end is no line",
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
    name: "a file without a line end has no lines",
    run: (system, root) => {
      system.createFile(`${root}/a`, "c1 x", 0o600);
      return system.findLines(`${root}/a`, "c1 ");
    },
    expected: { first: "", found: [], size: 4 },
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
    name: "no lines are found through a symbolic link",
    links: { a: "b" },
    run: (system, root) => {
      system.findLines(`${root}/a`, undefined);
    },
    expected: "ELOOP open /a: too many levels of symbolic links",
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
    name: "a missing file is not extended",
    run: (system, root) => system.extendFile(`${root}/a`, "x", "y"),
    expected: "ENOENT open /a: no such file or directory",
  },
  {
    name: "a file is not extended through a symbolic link",
    links: { a: "b" },
    run: (system, root) => {
      system.extendFile(`${root}/a`, "x", "y");
    },
    expected: "ELOOP open /a: too many levels of symbolic links",
  },
  {
    name: "all files are read at once: those of two words as lines, every other as it is",
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
      const { pairs, count, others } = system.readFiles(root, LIMIT);
      const told = others.map(({ name, content }) =>
        typeof content === "string" ? [name, content] : [name, content.code],
      );
      return [pairs.split("\n").sort(), count, told.sort()];
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
        ["a b", "c1\r\neth0"],
        ["lock", "c1\r\neth0"],
      ],
    ],
  },
  {
    name: "a file that is too large cannot be read with the others",
    run: (system, root) => {
      system.createFile(`${root}/10.0.0.2`, "x".repeat(LIMIT + 1), 0o600);
      const [other] = system.readFiles(root, LIMIT).others;
      return other !== undefined && typeof other.content !== "string" && other.content.code;
    },
    expected: "EFBIG",
  },
  {
    name: "a missing directory has no files to read",
    run: (system, root) => system.readFiles(`${root}/a`, LIMIT),
    expected: "ENOENT open /a: no such file or directory",
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
  {
    name: "there is no lock in a missing network directory",
    run: (system, root) =>
      system.lock({ file: `${root}/net/lock`, directory: `${root}/own`, timeout: 0 }),
    expected: "ENOENT open /net/lock: no such file or directory",
  },
];
