import fc from "fast-check";

/** Text of any code points. fast-check's own unit `binary` takes seconds to make a table of all of them. */
export const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }))
  .map((codes) => String.fromCodePoint(...codes));
