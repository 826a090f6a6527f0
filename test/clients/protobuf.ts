/** The part of the protocol buffers' wire format that messages of the CRI need: no schema, field numbers only. */

/** A message to send: field number to value, or to several values if the field is repeated. */
export interface Fields {
  readonly [number: number]: Value | readonly Value[];
}

type Value = string | number | Fields;

/** A received message: field number to values, in the order of arrival; numbers are varints. */
export type Message = ReadonlyMap<number, readonly (number | Buffer)[]>;

const VARINT = 0;
const WITH_LENGTH = 2;

/**
 * Encodes a message.
 *
 * @param fields its fields
 */
export function encode(fields: Fields): Buffer {
  const parts = Object.entries(fields).flatMap(([number, values]) =>
    [values].flat().map((value) => encodeField(Number(number), value)),
  );
  return Buffer.concat(parts);
}

function encodeField(number: number, value: Value): Buffer {
  if (typeof value === "number") {
    return Buffer.concat([varint(number * 8 + VARINT), varint(value)]);
  }
  const bytes = typeof value === "string" ? Buffer.from(value) : encode(value);
  return Buffer.concat([varint(number * 8 + WITH_LENGTH), varint(bytes.length), bytes]);
}

/**
 * Decodes a message.
 *
 * @param bytes the message
 * @throws {RangeError} if it is cut off or has a field of an unknown kind
 */
export function decode(bytes: Buffer): Message {
  const fields = new Map<number, (number | Buffer)[]>();
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes.readUInt8(at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const readBytes = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError("the message is cut off");
    at += length;
    return bytes.subarray(at - length, at);
  };
  const readValue = (kind: number): number | Buffer => {
    if (kind === VARINT) return readVarint();
    if (kind === WITH_LENGTH) return readBytes(readVarint());
    throw new RangeError(`unknown kind of field: ${kind}`);
  };
  while (at < bytes.length) {
    const tag = readVarint();
    const number = Math.floor(tag / 8);
    fields.set(number, [...(fields.get(number) ?? []), readValue(tag % 8)]);
  }
  return fields;
}

/**
 * The nested messages of a field.
 *
 * @param message the message around them
 * @param number the field's number
 */
export function messagesIn(message: Message, number: number): readonly Message[] {
  return (message.get(number) ?? []).map((value) => {
    if (typeof value === "number") throw new RangeError(`field ${number} is a number`);
    return decode(value);
  });
}

/**
 * The text of a field; empty where it is absent, which is the default of the format.
 *
 * @param message the message around it
 * @param number the field's number
 */
export function textIn(message: Message | undefined, number: number): string {
  return String(message?.get(number)?.at(-1) ?? "");
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}
