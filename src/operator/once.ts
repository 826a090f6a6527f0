/** Values that are made when they are first asked for, and kept: what is read, or judged, is so once a command. */

/** A value. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A value for each key. */
export function onceFor<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const values = new Map<Key, () => Value>();
  return (key) => {
    const known = values.get(key) ?? once(() => make(key));
    values.set(key, known);
    return known();
  };
}
