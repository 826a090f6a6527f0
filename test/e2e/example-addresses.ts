/** Addresses for those of an example, which are private: this machine may have them, and GC then keeps them. */

/** In place of the first three octets, in their order. No namespace of a test has one of these; the first is that of a /15. */
const PLACES = ["198.18.0.", "198.51.100.", "203.0.113."];

/** The addresses of an example, and those for documentation that stand for them. */
export class ExampleAddresses {
  readonly #pairs: readonly (readonly [own: string, documented: string])[];

  /**
   * @param texts all that has addresses of the example
   * @throws where it has more networks than there are for documentation
   */
  constructor(...texts: readonly string[]) {
    const octets = texts.flatMap(
      (text) => text.match(/\b(?:10\.\d+|192\.168)\.\d+\.(?=\d)/g) ?? [],
    );
    const pairs = [...new Set(octets)].sort().map((own, at) => {
      const documented = PLACES[at];
      if (documented === undefined) throw new Error(`no addresses for documentation for ${own}`);
      return [own, documented] as const;
    });
    this.#pairs = [...pairs, ["fd00:10:", "2001:db8:f"]];
  }

  /** A value of JSON with the addresses for documentation. */
  documented<T>(value: T): T {
    return this.#replaced(value, ([own, documented], text) => text.replaceAll(own, documented));
  }

  /** A value of JSON with those of the example again. */
  own<T>(value: T): T {
    return this.#replaced(value, ([own, documented], text) => text.replaceAll(documented, own));
  }

  #replaced<T>(value: T, replace: (pair: readonly [string, string], text: string) => string): T {
    if (value === undefined) return value;
    return JSON.parse(
      this.#pairs.reduce((text, pair) => replace(pair, text), JSON.stringify(value)),
    );
  }
}
