import { microPerCredit } from './rates.ts'

/** How amounts are shown: a balance is rounded down and never below zero, a use is rounded up. */
export const displayedBalance = (micro: number): number => Math.max(0, Math.floor(micro / microPerCredit))
export const displayedUsage = (micro: number): number => Math.ceil(micro / microPerCredit)

/** Credits with their fraction, for lists that must add up. */
export const inCredits = (micro: number): number => micro / microPerCredit

/** Dollars, without the dust that binary fractions leave behind. */
export const inUsd = (micro: number, creditUsd: number): number =>
  Number(((micro / microPerCredit) * creditUsd).toFixed(10))

/** What somebody typed as credits, in micro-credits. */
export function toMicro(credits: number): number {
  const micro = Math.round(credits * microPerCredit)
  if (!Number.isSafeInteger(micro) || micro <= 0) throw new RangeError(`${credits} is no amount of credits`)
  return micro
}
