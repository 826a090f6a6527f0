/** Network interfaces of a machine, in the text of `OperatorSystem.networkLinks`. */

/** An interface: the addresses of a NIC, or the facts of another kind. */
export type LinkFacts =
  | readonly string[]
  | {
      readonly kind: string;
      readonly isDown?: boolean;
      /** The name of the bridge that it is a port of. */
      readonly master?: string;
      /** The id of the namespace of its other end. */
      readonly otherEnd?: number;
      readonly addresses?: readonly string[];
    };

/** The text for interfaces, given by their names, in their order. */
export function linksText(links: Readonly<Record<string, LinkFacts>>): string {
  const names = Object.keys(links);
  const indexOf = (name: string | undefined): number => names.indexOf(name ?? "") + 1;
  const all = Object.entries(links).map(([name, facts]) => {
    const { kind, isDown, master, otherEnd, addresses } =
      "kind" in facts ? facts : { kind: "-", addresses: facts };
    return { name, kind, isDown, master, otherEnd, addresses };
  });
  const interfaces = all.map(({ name, kind, isDown = false, master, otherEnd = -1 }) =>
    [indexOf(name), name, kind, isDown ? "down" : "up", indexOf(master), otherEnd].join(" "),
  );
  const addresses = all.flatMap(({ name, addresses: own = [] }) =>
    own.map((address) => `${indexOf(name)} ${address}`),
  );
  return [...interfaces, ...addresses].map((line) => `${line}\n`).join("");
}
