import { Fault } from '../../base/fault.ts'
import type { WithAuditRecord } from '../identity/audit-log.ts'
import type { DirectoryStore } from '../identity/store.ts'
import { toMicro } from './formatting.ts'
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
  if (!(usd > 0)) throw invalid('A payment must be more than 0 USD.')
  if (usd > maxPaymentUsd) throw invalid(`A payment is at most ${maxPaymentUsd} USD.`)
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
    throw invalid(`${credits} is no amount of credits.`, cause)
  }
}

const invalid = (message: string, cause?: unknown): Fault =>
  new Fault('validation', 'invalid_parameter', message, { cause })
