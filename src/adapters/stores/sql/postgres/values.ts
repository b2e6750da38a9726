import { DatabaseError, type Value } from '../database.ts'

/** How PostgreSQL's text answers become values of the port, by type number; anything else stays text. */
export const postgresParsers: Readonly<Record<number, (text: string) => Value>> = {
  16: (text) => (text === 't' ? 1 : 0), // boolean: SQLite has none, so that 1 and 0 are what both can say
  17: (text) => Uint8Array.fromHex(text.slice(2)), // bytea, as \x0123
  20: toSafeNumber, // bigint
  21: Number, // smallint
  23: Number, // integer
  700: Number, // real
  701: Number, // double precision
  1700: toSafeNumber, // numeric: what sum() over bigint answers
}

/** Money must not be rounded in silence. */
function toSafeNumber(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new DatabaseError('other', `${text} is beyond the integers that a number holds exactly`)
  }
  return value
}
