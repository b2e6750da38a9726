import { lastSecond } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'

/** The longest name that an organization, a project or a key may have, in characters. */
export const maxNameLength = 80

/** A character that is neither a space nor a control character. */
const visible = /[^\s\p{Z}\p{C}]/u

/** Rejects an empty or too long name, and one that cannot be seen. */
export function requireName(name: string): void {
  const { length } = [...name]
  if (length === 0) throw outOfBounds('name', 'must not be empty')
  if (!visible.test(name)) throw outOfBounds('name', 'must not consist of spaces only')
  if (length > maxNameLength) throw outOfBounds('name', `must have at most ${maxNameLength} characters`)
}

/** Rejects an expiry in the past, or one that cannot be represented. */
export function requireExpiry(expiresAtMs: number | null | undefined, nowMs: number): void {
  if (expiresAtMs === null || expiresAtMs === undefined) return
  if (expiresAtMs <= nowMs) throw outOfBounds('expires_at', 'must lie in the future')
  if (expiresAtMs > lastSecond * 1000) throw outOfBounds('expires_at', 'must not lie after the year 9999')
}

const outOfBounds = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${message}`, { param })
