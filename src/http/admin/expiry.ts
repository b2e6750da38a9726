import { invalidField } from '../validate.ts'

/** The time at which a key stops working, which must not have passed already. */
export function expiryMs(expiresAtSeconds: number | null | undefined, nowMs: number): number | null {
  if (expiresAtSeconds === undefined || expiresAtSeconds === null) return null
  if (expiresAtSeconds * 1000 <= nowMs) throw invalidField(['expires_at'], 'must lie in the future')
  return expiresAtSeconds * 1000
}
