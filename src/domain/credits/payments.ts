import { Fault, type FaultDetails } from '../../base/fault.ts'
import type { WithAuditRecord } from '../mutations/audit-log.ts'
import type { DirectoryStore } from '../identity/store.ts'
import { inCredits, toMicro } from './formatting.ts'
import type { GrantStore } from './ledger-store.ts'

const microUsdPerUsd = 1_000_000
/** Above this, sums of payments would soon exceed the integers that a number holds exactly. */
const maxPaymentUsd = 100_000_000

export type CreditGrant = {
  readonly organizationId: string
  readonly credits: number
  /** The same reference grants once. */
  readonly ref: string
  readonly note: string
}

/** Adds credits. The value is false if this reference was granted before; then nothing changes. */
export async function grantCredits(
  grants: GrantStore,
  { organizationId, credits, ref, note }: CreditGrant,
): Promise<WithAuditRecord<boolean>> {
  const isNew = await grants.grant({ organizationId, kind: 'grant', ref, micro: microOf(credits), note })
  if (!isNew) return { value: false }
  const details = { credits, ref, note }
  return { value: true, record: { kind: 'credits.granted', resourceId: organizationId, details } }
}

/**
 * Takes granted credits back, at most those that no running request has reserved. The value is false if this reference
 * was corrected before; then nothing changes.
 */
export async function correctCredits(
  grants: GrantStore,
  { organizationId, credits, ref, note }: CreditGrant,
): Promise<WithAuditRecord<boolean>> {
  const micro = microOf(credits)
  const { isNew, availableMicro } = await grants.correct({ organizationId, ref, micro, note })
  if (!isNew) return { value: false }
  if (availableMicro < 0) {
    const most = inCredits(Math.max(0, availableMicro + micro))
    const message = `Only ${most} credits can be taken back now. Requests have used or reserved the others.`
    throw new Fault('conflict', 'insufficient_credits', message, { param: 'credits' })
  }
  const details = { credits, ref, note }
  return { value: true, record: { kind: 'credits.corrected', resourceId: organizationId, details } }
}

/** The credits of a new organization. The audit record of its creation names them. */
export async function grantStartingCredits(
  grants: GrantStore,
  { organizationId, credits }: Pick<CreditGrant, 'organizationId' | 'credits'>,
): Promise<void> {
  const micro = toMicro(credits)
  await grants.grant({ organizationId, kind: 'grant', ref: 'start', micro, note: 'starting credits' })
}

export type Payment = {
  readonly organizationId: string
  readonly usd: number
  /** The same reference counts once. */
  readonly ref: string
  /** Without it, as many credits as the payment buys at `creditUsd`. */
  readonly credits?: number | undefined
  /** The price of a credit. */
  readonly creditUsd: number
}

/**
 * Adds the credits that a payment buys and counts it towards the organization's tier. The value is false if this
 * reference was paid before; then nothing changes.
 */
export async function recordPayment(
  { directory, grants }: { readonly directory: DirectoryStore; readonly grants: GrantStore },
  { organizationId, usd, ref, creditUsd, credits = usd / creditUsd }: Payment,
): Promise<WithAuditRecord<boolean>> {
  if (!(usd > 0)) throw invalid('usd: A payment must be more than 0 USD.', { param: 'usd' })
  if (usd > maxPaymentUsd) throw invalid(`usd: A payment is at most ${maxPaymentUsd} USD.`, { param: 'usd' })
  const grant = { organizationId, kind: 'payment', ref, micro: microOf(credits), note: `${usd} USD` } as const
  if (!(await grants.grant(grant))) return { value: false }
  await directory.addPayment(organizationId, Math.round(usd * microUsdPerUsd))
  const details = { usd, credits, ref }
  return { value: true, record: { kind: 'payment.recorded', resourceId: organizationId, details } }
}

function microOf(credits: number): number {
  try {
    return toMicro(credits)
  } catch (cause) {
    throw invalid(`credits: ${credits} is no amount of credits. Send more than 0.`, { param: 'credits', cause })
  }
}

const invalid = (message: string, details: FaultDetails = {}): Fault =>
  new Fault('validation', 'invalid_parameter', message, details)
