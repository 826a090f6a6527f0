/** Values that are made when they are first asked for, and kept: what is read, or judged, is so once a command. */

/** A function that makes a value when it is first asked for, and keeps it. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A function that does so for each key. */
export function onceFor<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const values = new Map<Key, () => Value>();
  return (key) => {
    const known = values.get(key) ?? once(() => make(key));
    values.set(key, known);
    return known();
  };
}
