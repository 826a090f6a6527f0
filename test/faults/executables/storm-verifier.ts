/** Whether the answers of a storm agree with each other, and with what is on disk at its end. */

import { readError } from "../../harness/printed-error.ts";
import type { Kind, Verifier } from "../../harness/violations.ts";
import { type History, type Holding, historyOf, type Tenure } from "./storm-history.ts";
import { excerpt, lineOf, type Operation } from "./storm-log.ts";
import { isOf, type StormNetwork } from "./storm-network.ts";
import { StormOccupancy } from "./storm-occupancy.ts";

/** The log of one network of a storm, and what it means for each attachment. */
export class StormVerifier {
  readonly #network: StormNetwork;
  readonly #operations: readonly Operation[];
  readonly #verifier: Verifier;
  readonly #boots: readonly number[];
  readonly histories: ReadonlyMap<string, History>;

  /**
   * @param operations all calls of the network
   * @param boots when the machine booted
   */
  constructor(
    network: StormNetwork,
    operations: readonly Operation[],
    verifier: Verifier,
    boots: readonly number[] = [],
  ) {
    this.#network = network;
    this.#operations = operations;
    this.#verifier = verifier;
    this.#boots = boots;
    const collections = operations.filter(({ verb }) => verb === "GC");
    const calls = Map.groupBy(operations, ({ attachment }) => attachment);
    this.histories = new Map(
      [...calls].flatMap(([attachment, own]) =>
        attachment === undefined
          ? []
          : [[attachment, historyOf(attachment, own, collections, boots)]],
      ),
    );
  }

  /** Whether the reservation with this content may be from before the last boot, of an attachment that died then. */
  mayBeEarlier(content: string): boolean {
    const [attachment = ""] = content.split("\r\n");
    const history = this.histories.get(attachment);
    const since = history?.mayHold[0]?.from ?? Number.POSITIVE_INFINITY;
    return history?.end.kind === "unknown" && since < (this.#boots.at(-1) ?? 0);
  }

  /** No address is held by two at any moment. */
  verifyTenures(): void {
    const tenures = [...this.histories.values()].flatMap((history) => history.tenures);
    const addresses = new Set(tenures.flatMap((tenure) => tenure.addresses));
    for (const address of addresses) {
      const holders = tenures
        .filter((tenure) => tenure.addresses.includes(address))
        .sort((a, b) => a.from - b.from);
      let last: Tenure | undefined;
      for (const holder of holders) {
        const attachments = [last?.attachment ?? "", holder.attachment];
        if (last !== undefined && holder.from < last.to) {
          this.#accuse("double", `${address} is held by ${attachments.join(" and ")}`, {
            addresses: [address],
            attachments,
          });
        }
        if (last === undefined || holder.to > last.to) last = holder;
      }
    }
  }

  /** Each answer is possible after the calls before it. */
  verifyAnswers(): void {
    const occupancy = new StormOccupancy([...this.histories.values()], this.#operations);
    for (const operation of this.#operations) {
      const history = this.histories.get(operation.attachment ?? "");
      const holding = history?.before.get(operation) ?? { kind: "unknown" };
      const mayBeFull = this.#network.sets.some(
        ({ capacity }) => occupancy.highest(operation) >= capacity,
      );
      const fault =
        this.#faultOfRepetition(operation, holding) ??
        faultOf(operation, holding, mayBeFull) ??
        this.#faultOfGrant(operation);
      if (fault === undefined) continue;
      const attachments = operation.attachment === undefined ? [] : [operation.attachment];
      const { addresses } = operation;
      this.#accuse(fault, lineOf(operation), { addresses, attachments });
    }
  }

  /**
   * The files are those that the answers promise.
   *
   * @param reservations the content of each file by its address
   * @param empty what an empty file is to be called; `undefined` where it may be there
   */
  verifyDirectory(reservations: ReadonlyMap<string, string>, empty: Kind | undefined): void {
    const held = Map.groupBy(reservations.keys(), (address) => reservations.get(address) ?? "");
    for (const [content, addresses] of held) {
      const [attachment = "", interfaceName] = content.split("\r\n");
      const isWhole = interfaceName === "eth0" && this.histories.has(attachment);
      const fault = content === "" ? empty : "torn";
      if (isWhole || fault === undefined) continue;
      this.#accuse(fault, `${addresses} says ${JSON.stringify(content)}`, {
        addresses,
        attachments: [],
      });
    }
    for (const { attachment, end } of this.histories.values()) {
      const found = held.get(`${attachment}\r\neth0`) ?? [];
      const fault = this.#faultOfHolding(end, found);
      if (fault === undefined) continue;
      const promised = end.kind === "held" ? end.addresses.join(" ") : end.kind;
      const detail = `${attachment} has [${found.join(" ")}], promised: ${promised}`;
      const addresses = [...found, ...(end.kind === "held" ? end.addresses : [])];
      this.#accuse(fault, detail, { addresses, attachments: [attachment] });
    }
  }

  /** An ADD of one that lives gets the same answer or an error, as the network is configured. */
  #faultOfRepetition(operation: Operation, holding: Holding): Kind | undefined {
    const { verb, answer, addresses } = operation;
    if (verb !== "ADD" || answer !== "done" || holding.kind !== "held") return undefined;
    const isSame = `${addresses}` === `${holding.addresses}`;
    return isSame && this.#network.ipam?.repeatedAdd === "same" ? undefined : "accepted";
  }

  #faultOfHolding(end: Holding, found: readonly string[]): Kind | undefined {
    switch (end.kind) {
      case "absent":
        return found.length === 0 ? undefined : "leak";
      case "held": {
        if (end.addresses.some((address) => !found.includes(address))) return "double";
        return found.length === end.addresses.length ? undefined : "leak";
      }
      case "unknown": {
        const isOnePerSet = this.#network.sets.every(
          (set) => found.filter((address) => isOf(set, address)).length <= 1,
        );
        return isOnePerSet ? undefined : "double";
      }
    }
  }

  /** An ADD grants one address of each set. */
  #faultOfGrant({ addresses }: Operation): Kind | undefined {
    if (addresses.length === 0) return undefined;
    const { sets } = this.#network;
    const isComplete =
      addresses.length === sets.length &&
      sets.every((set) => addresses.filter((address) => isOf(set, address)).length === 1);
    return isComplete ? undefined : "torn";
  }

  #accuse(
    kind: Kind,
    detail: string,
    about: Readonly<Record<"addresses" | "attachments", readonly string[]>>,
  ): void {
    const { name } = this.#network;
    const log = excerpt(this.#operations, name, about);
    this.#verifier.require(false, kind, `${name}: ${detail}${log}`);
  }
}

/** What is wrong with an answer, where an attachment's holding before the call is known. */
function faultOf(operation: Operation, holding: Holding, mayBeFull: boolean): Kind | undefined {
  const { verb, answer, text } = operation;
  switch (answer) {
    case "killed":
      return undefined;
    case "crashed":
      return "crash";
    case "hung":
      return "hang";
    case "done":
      return verb === "CHECK" && holding.kind === "absent" ? "accepted" : undefined;
    case "refused": {
      const error = readError(text);
      if (error === undefined) return "mute";
      const isExhaustion = error.msg.includes("no IP addresses available") && mayBeFull;
      if (verb === "STATUS") return isExhaustion && error.code === 50 ? undefined : "refused";
      if (verb === "CHECK") return holding.kind === "held" ? "refused" : undefined;
      if (verb === "DEL" || verb === "GC") return "refused";
      if (holding.kind === "absent") {
        if (error.msg.includes("duplicate allocation")) return "leak";
        return isExhaustion ? undefined : "refused";
      }
      const isDuplicate = error.msg.includes("duplicate allocation");
      return isDuplicate || isExhaustion ? undefined : "refused";
    }
  }
}
