import { lastSecond } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'

/** The longest name that an organization, a project or a key may have, in characters. */
export const maxNameLength = 80

/** Rejects an empty or too long name. */
export function requireName(name: string): void {
  const { length } = [...name]
  if (length === 0) throw outOfBounds('name', 'must not be empty')
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
