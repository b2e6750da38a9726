import { microPerCredit } from './rates.ts'

/** Displayed amounts are whole credits: a balance is rounded down and never negative, a usage is rounded up. */
export const displayedBalance = (micro: number): number => Math.max(0, Math.floor(micro / microPerCredit))
export const displayedUsage = (micro: number): number => Math.ceil(micro / microPerCredit)

/** Credits with fractions, for lists that must add up. */
export const inCredits = (micro: number): number => micro / microPerCredit

/** Dollars, without the rounding errors of binary fractions. */
export const inUsd = (micro: number, creditUsd: number): number =>
  Number(((micro / microPerCredit) * creditUsd).toFixed(10))

/** Converts credits that an operator entered to micro-credits. */
export function toMicro(credits: number): number {
  const micro = Math.round(credits * microPerCredit)
  if (!Number.isSafeInteger(micro) || micro <= 0) throw new RangeError(`${credits} is not a valid amount of credits`)
  return micro
}
