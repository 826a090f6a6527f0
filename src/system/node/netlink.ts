/**
 * Network namespaces for which the kernel has an id in that of this process, and their addresses, see rtnetlink(7). A socket is
 * all that Node.js lacks for it: it is read and written as a file.
 */

import fs from "node:fs";
import { getSystemErrorName } from "node:util";
import { attempt, SystemError } from "../system.ts";
import { cLibrary } from "./c-library.ts";
import { quietly, systemCall } from "./system-call.ts";
import { decodedUtf8 } from "./text.ts";
import { withFile } from "./with-file.ts";

const { O_NOCTTY, O_RDONLY } = fs.constants;

// Constants of linux/netlink.h and linux/rtnetlink.h.
const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
const RTM_GETLINK = 18;
const RTM_GETADDR = 22;
const RTM_NEWNSID = 88;
const RTM_GETNSID = 90;
const NLM_F_REQUEST = 1;
const NLM_F_MULTI = 2;
const NLM_F_ACK = 4;
const NLM_F_DUMP_INTR = 0x10;
const NLM_F_DUMP = 0x300;

/** Attributes of messages about addresses, links and ids. */
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_TARGET_NETNSID = 10;
const IFLA_IFNAME = 3;
const IFLA_MASTER = 10;
const IFLA_LINKINFO = 18;
const IFLA_EXT_MASK = 29;
const IFLA_LINK_NETNSID = 37;
/** The attribute in `IFLA_LINKINFO`. */
const IFLA_INFO_KIND = 1;
const NETNSA_NSID = 1;
const NETNSA_FD = 3;

/** The flag of net/if.h. */
const IFF_UP = 1;

/** The mask of `IFLA_EXT_MASK` that leaves out statistics. */
const SKIP_STATS = 8;

/** The sizes of the headers of messages, in bytes. */
const HEADER = 16;
const ADDRESS_HEADER = 8;
const LINK_HEADER = 16;
/** `struct rtgenmsg`, aligned. */
const ID_HEADER = 4;

/** The families of addresses, and their sizes in bytes. */
const families = { 4: { number: 2, size: 4 }, 6: { number: 10, size: 16 } } as const;

/** The kernel answers in parts of at most half of that, in bytes. */
const PART = 64 * 1024;

/** A list that was changed meanwhile is asked for so often. */
const MOST_DUMPS = 5;

/** The number of ids from which on links are asked, too: Linux 6.18 ends the list of ids after its first part. */
const MANY_IDS = 1100;

/** What is done with each message of an answer. */
type Visit = (message: Buffer) => void;

/** See `System.linkedAddresses`. */
export function linkedAddresses(family: 4 | 6, but?: string): string {
  return withConversation("route", (conversation) => {
    const lines: string[] = [];
    // This comes first: how much the kernel puts in one part depends on the room that it has been offered before.
    const visit: VisitAddress = (address, id) => {
      lines.push(`${BigInt(`0x${address.toString("hex")}`).toString(16)} ${id ?? "-"}\n`);
    };
    dumpAddresses(conversation, family, undefined, visit);
    if (!conversation.isStrict) return lines.join("");
    const leftOut =
      but === undefined ? undefined : attempt(() => giveId(conversation, but), undefined);
    for (const id of idsIn(conversation)) {
      // A namespace that is ending, or that this process may not ask about, is left out.
      if (id !== leftOut) attempt(() => dumpAddresses(conversation, family, id, visit), undefined);
    }
    return lines.join("");
  });
}

/** See `OperatorSystem.namespaceId`. */
export function namespaceId(path: string): number | undefined {
  return withFile(path, O_RDONLY | O_NOCTTY, (namespace) =>
    withConversation(path, (conversation) => askForId(conversation, namespace)),
  );
}

/** The id of the namespace at a path, which gets one. */
function giveId(conversation: Conversation, path: string): number | undefined {
  return withFile(path, O_RDONLY | O_NOCTTY, (namespace) => {
    const words = [Buffer.alloc(ID_HEADER), attribute(NETNSA_FD, namespace)];
    const request = Buffer.concat([...words, attribute(NETNSA_NSID, -1)]);
    // EEXIST means that it has one.
    attempt(() => conversation.ask(RTM_NEWNSID, NLM_F_ACK, request, () => {}), undefined);
    return askForId(conversation, namespace);
  });
}

/** The id of a namespace that is open. */
function askForId(conversation: Conversation, namespace: number): number | undefined {
  let id: number | undefined;
  const request = Buffer.concat([Buffer.alloc(ID_HEADER), attribute(NETNSA_FD, namespace)]);
  conversation.ask(RTM_GETNSID, 0, request, (message) => {
    id = numberIn(message, ID_HEADER, NETNSA_NSID);
  });
  return id === undefined || id < 0 ? undefined : id;
}

/** See `OperatorSystem.networkLinks`. */
export function networkLinks(): string {
  return withConversation("route", (conversation) => {
    const lines: string[] = [];
    dumpLinks(conversation, (message) => lines.push(lineOfLink(message)));
    for (const family of [4, 6] as const) {
      dumpAddresses(conversation, family, undefined, (address, _, message) => {
        const index = message.readInt32LE(HEADER + 4);
        lines.push(`${index} ${formatBytes(address)}/${message[HEADER + 1]}\n`);
      });
    }
    return lines.join("");
  });
}

function lineOfLink(message: Buffer): string {
  const all = attributesIn(message, HEADER + LINK_HEADER);
  const more = all.get(IFLA_LINKINFO);
  const kind = more && attributesIn(more, 0).get(IFLA_INFO_KIND);
  const isUp = (message.readUInt32LE(HEADER + 8) & IFF_UP) !== 0;
  const words = [
    message.readInt32LE(HEADER + 4),
    toNul(all.get(IFLA_IFNAME)),
    toNul(kind),
    isUp ? "up" : "down",
    all.get(IFLA_MASTER)?.readInt32LE() ?? 0,
    all.get(IFLA_LINK_NETNSID)?.readInt32LE() ?? -1,
  ];
  return `${words.join(" ")}\n`;
}

/** The text before the NUL in an attribute; `-` where there is none. */
function toNul(text: Buffer | undefined): string {
  return text === undefined ? "-" : decodedUtf8(text.subarray(0, text.indexOf(0)));
}

function formatBytes(address: Buffer): string {
  return address.length === families[4].size
    ? address.join(".")
    : (address.toString("hex").match(/.{4}/g) ?? []).join(":");
}

/** What is done with each address of a namespace, that with an id or, without one, that of this process. */
type VisitAddress = (address: Buffer, id: number | undefined, message: Buffer) => void;

function dumpAddresses(
  conversation: Conversation,
  family: 4 | 6,
  id: number | undefined,
  visit: VisitAddress,
): void {
  const { number, size } = families[family];
  const header = Buffer.alloc(ADDRESS_HEADER);
  header[0] = number;
  const target = id === undefined ? [] : [attribute(IFA_TARGET_NETNSID, id)];
  conversation.dump(RTM_GETADDR, Buffer.concat([header, ...target]), (message) => {
    // A kernel that does not know the attribute answers with the addresses of this namespace.
    if (message[HEADER] !== number) return;
    if (numberIn(message, ADDRESS_HEADER, IFA_TARGET_NETNSID) !== id) return;
    const all = attributesIn(message, HEADER + ADDRESS_HEADER);
    const address = all.get(IFA_LOCAL) ?? all.get(IFA_ADDRESS);
    if (address?.length === size) visit(address, id, message);
  });
}

/** The ids that this namespace has for others. */
function idsIn(conversation: Conversation): ReadonlySet<number> {
  const ids = new Set<number>();
  const add = (id: number | undefined): void => {
    if (id !== undefined && id >= 0) ids.add(id);
  };
  attempt(
    () =>
      conversation.dump(RTM_GETNSID, Buffer.alloc(1), (message) =>
        add(numberIn(message, ID_HEADER, NETNSA_NSID)),
      ),
    undefined,
  );
  if (ids.size >= MANY_IDS) {
    const visit: Visit = (message) => add(numberIn(message, LINK_HEADER, IFLA_LINK_NETNSID));
    attempt(() => dumpLinks(conversation, visit), undefined);
  }
  return ids;
}

function dumpLinks(conversation: Conversation, visit: Visit): void {
  const body = Buffer.concat([Buffer.alloc(LINK_HEADER), attribute(IFLA_EXT_MASK, SKIP_STATS)]);
  conversation.dump(RTM_GETLINK, body, visit);
}

/** An attribute that is a number. */
function attribute(type: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(bytes.length, 0);
  bytes.writeUInt16LE(type, 2);
  bytes.writeInt32LE(value, 4);
  return bytes;
}

/** The attributes from an offset on, by their types. */
function attributesIn(bytes: Buffer, from: number): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let at = from; at + 4 <= bytes.length; ) {
    const length = bytes.readUInt16LE(at);
    if (length < 4 || at + length > bytes.length) break;
    found.set(bytes.readUInt16LE(at + 2), bytes.subarray(at + 4, at + length));
    at += aligned(length);
  }
  return found;
}

/** The number in an attribute; `undefined` where there is none. */
function numberIn(message: Buffer, header: number, type: number): number | undefined {
  const found = attributesIn(message, HEADER + header).get(type);
  return found !== undefined && found.length >= 4 ? found.readInt32LE(0) : undefined;
}

function aligned(length: number): number {
  return (length + 3) & ~3;
}

/**
 * Runs `use` with a socket of the kernel's tables of this network namespace.
 *
 * @param path that of errors
 * @throws SystemError; ENOSYS without `node:ffi`
 */
function withConversation<T>(path: string, use: (conversation: Conversation) => T): T {
  const library = cLibrary();
  if (library === undefined) throw new SystemError("netlink", path, "ENOSYS");
  const { socket, isStrict } = library.routeSocket();
  if (socket < 0) throw new SystemError("socket", path, getSystemErrorName(socket));
  try {
    return use(new Conversation(socket, isStrict, path));
  } finally {
    quietly(() => fs.closeSync(socket));
  }
}

/** Requests and answers; the kernel answers at once, so that nothing is waited for. */
class Conversation {
  readonly #socket: number;
  readonly #path: string;
  /** Whether requests are checked: a kernel that does not would answer for this namespace in place of another one. */
  readonly isStrict: boolean;
  readonly #part = Buffer.alloc(PART);
  #sequence = 0;

  constructor(socket: number, isStrict: boolean, path: string) {
    this.#socket = socket;
    this.isStrict = isStrict;
    this.#path = path;
  }

  /**
   * Dumps, and again where that was interrupted: what is visited then may have been before.
   *
   * @throws SystemError
   */
  dump(type: number, body: Buffer, visit: Visit): void {
    for (let dumps = 0; dumps < MOST_DUMPS; dumps++) {
      if (this.ask(type, NLM_F_DUMP, body, visit) === "whole") return;
    }
  }

  /**
   * Sends a request, and visits the answer.
   *
   * @throws SystemError
   */
  ask(type: number, flags: number, body: Buffer, visit: Visit): "whole" | "interrupted" {
    const sequence = ++this.#sequence;
    const header = Buffer.alloc(HEADER);
    header.writeUInt32LE(HEADER + body.length, 0);
    header.writeUInt16LE(type, 4);
    header.writeUInt16LE(flags | NLM_F_REQUEST, 6);
    header.writeUInt32LE(sequence, 8);
    const request = Buffer.concat([header, body]);
    const call = <T>(action: () => T): T => systemCall("netlink", this.#path, action);
    call(() => fs.writeSync(this.#socket, request));
    let answer: "whole" | "interrupted" = "whole";
    for (;;) {
      const length = call(() => fs.readSync(this.#socket, this.#part));
      for (let at = 0; at + HEADER <= length; ) {
        const end = this.#part.readUInt32LE(at);
        if (end < HEADER || at + end > length) break;
        const message = this.#part.subarray(at, at + end);
        at += aligned(end);
        if (message.readUInt32LE(8) !== sequence) continue;
        const kind = message.readUInt16LE(4);
        const flagged = message.readUInt16LE(6);
        if ((flagged & NLM_F_DUMP_INTR) !== 0) answer = "interrupted";
        if (kind === NLMSG_DONE || kind === NLMSG_ERROR) {
          const error = end < HEADER + 4 ? 0 : message.readInt32LE(HEADER);
          if (error === 0) return answer;
          throw new SystemError("netlink", this.#path, getSystemErrorName(error));
        }
        visit(message);
        if ((flagged & NLM_F_MULTI) === 0) return answer;
      }
    }
  }
}
