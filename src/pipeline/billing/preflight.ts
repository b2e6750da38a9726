import { worstCaseMicro, type Rates } from '../../domain/credits/rates.ts'
import type { LedgerStore } from '../../domain/credits/ledger-store.ts'
import type { Organization } from '../../domain/identity/principal.ts'
import type { Price } from '../../domain/inference/catalogue.ts'
import type { AdmissionResult } from '../../domain/limits/admission.ts'
import type { LimitsOf } from '../../domain/limits/overrides.ts'
import type { LimitStore } from '../../domain/limits/store.ts'

export type PreflightParts = {
  readonly limits: Pick<LimitStore, 'admit'>
  readonly limitsOf: LimitsOf
  readonly ledger: Pick<LedgerStore, 'balance'>
  readonly ratesOf: (price: Price) => Rates
}

/** A request that somebody thinks of making. Without tokens it only asks where the limits stand. */
export type PreflightRequest = {
  readonly organization: Organization
  readonly projectId: string
  readonly keyId: string
  readonly price?: Price
  readonly inputTokens?: number
  readonly maxOutputTokens?: number
}

/** What would be decided, and what would be held for it. */
export type PreflightResult = { readonly verdict: AdmissionResult; readonly tokens: number; readonly micro: number }

export type Preflight = (thought: PreflightRequest) => Promise<PreflightResult>

/** Decides as admission would, and counts nothing. */
export function createPreflight({ limits, limitsOf, ledger, ratesOf }: PreflightParts): Preflight {
  return async ({ organization, projectId, keyId, price, inputTokens = 0, maxOutputTokens = 0 }) => {
    const tokens = inputTokens + maxOutputTokens
    const micro =
      price === undefined ? 0 : worstCaseMicro({ input: inputTokens, output: maxOutputTokens }, ratesOf(price))
    const subject = { organization: organization.id, project: projectId, key: keyId }
    const verdict = await limits.admit({
      ...subject,
      limits: await limitsOf({ id: keyId, projectId, organization }),
      mode: 'check',
      requestId: '',
      tokens,
      micro: organization.metered && price !== undefined ? micro : null,
    })
    return { verdict: await withLedger(verdict, organization.id, micro), tokens, micro }
  }

  /** What the counters lack, the ledger may have. */
  async function withLedger(verdict: AdmissionResult, organizationId: string, micro: number): Promise<AdmissionResult> {
    if (verdict.admitted || verdict.reason !== 'credits') return verdict
    const available = (await ledger.balance(organizationId))?.availableMicro ?? 0
    const left = verdict.credits?.leftMicro ?? 0
    if (micro > left + available) return verdict
    const { limitStatus, atMs, credits } = verdict
    return { admitted: true, duplicate: false, limitStatus, atMs, credits }
  }
}
