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

/** A hypothetical request. Without tokens, the result is the current status of the limits. */
export type PreflightRequest = {
  readonly organization: Organization
  readonly projectId: string
  readonly keyId: string
  readonly price?: Price
  readonly inputTokens?: number
  readonly maxOutputTokens?: number
}

/** The decision, and what would be held for the request. */
export type PreflightResult = { readonly admission: AdmissionResult; readonly tokens: number; readonly micro: number }

export type Preflight = (request: PreflightRequest) => Promise<PreflightResult>

/** Decides like admission, without counting anything. */
export function createPreflight({ limits, limitsOf, ledger, ratesOf }: PreflightParts): Preflight {
  return async ({ organization, projectId, keyId, price, inputTokens = 0, maxOutputTokens = 0 }) => {
    const tokens = inputTokens + maxOutputTokens
    const micro =
      price === undefined ? 0 : worstCaseMicro({ input: inputTokens, output: maxOutputTokens }, ratesOf(price))
    const subject = { organization: organization.id, project: projectId, key: keyId }
    const admission = await limits.admit({
      ...subject,
      limits: await limitsOf({ id: keyId, projectId, organization }),
      mode: 'check',
      requestId: '',
      tokens,
      micro: organization.metered && price !== undefined ? micro : null,
    })
    return { admission: await withLedger(admission, organization.id, micro), tokens, micro }
  }

  /** Credits that the counters lack may be available in the ledger. */
  async function withLedger(result: AdmissionResult, organizationId: string, micro: number): Promise<AdmissionResult> {
    if (result.admitted || result.reason !== 'credits') return result
    const available = (await ledger.balance(organizationId))?.availableMicro ?? 0
    const left = result.credits?.leftMicro ?? 0
    if (micro > left + available) return result
    const { limitStatus, atMs, credits } = result
    return { admitted: true, duplicate: false, limitStatus, atMs, credits }
  }
}
