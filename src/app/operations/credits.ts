import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { noBalance, remainingMicro, type GrantStore, type LedgerStore } from '../../domain/credits/ledger-store.ts'
import type { LedgerReports, LedgerVerification } from '../../domain/credits/reports.ts'
import { inCredits, inUsd, displayedBalance, toMicro } from '../../domain/credits/formatting.ts'
import type { AuditedMutation } from '../../domain/identity/audited-mutation.ts'
import type { AuditRecord, WithAuditRecord } from '../../domain/identity/audit-log.ts'
import type { Organization } from '../../domain/identity/principal.ts'
import type { DirectoryStore } from '../../domain/identity/store.ts'
import type { LimitOverride, OverrideStore } from '../../domain/limits/overrides.ts'
import { isPlan, plans } from '../../domain/limits/tiers.ts'
import { presentLedgerEntry } from '../../http/admin/credits/present.ts'
import { operatorOf, type InOrganization, type OrganizationOf } from './organization-of.ts'
import { presentOrganization, type ShownOrganization } from './registry.ts'

export type CreditBalance = {
  readonly organization_id: string
  readonly remaining_credits: number
  readonly debt_credits: number
  readonly granted_credits: number
  readonly spent_credits: number
  readonly spent_usd: number
}

/** What the command line can do to credits, plans and limits. */
export type CreditOperations = {
  'credits.grant'(input: InOrganization & GrantInput): Promise<CreditBalance & { readonly is_new: boolean }>
  'credits.balance'(input: InOrganization): Promise<CreditBalance>
  'credits.ledger'(input: InOrganization & { limit?: number }): Promise<readonly ShownEntry[]>
  'orgs.setPlan'(input: InOrganization & { plan: string }): Promise<ShownOrganization>
  'orgs.setMetered'(input: InOrganization & { metered: boolean }): Promise<ShownOrganization>
  'orgs.setLimits'(input: InOrganization & LimitsInput): Promise<ShownOverride>
  'orgs.recordPayment'(input: InOrganization & PaymentInput): Promise<CreditBalance & { readonly is_new: boolean }>
  'ledger.verify'(input: object): Promise<LedgerVerification>
}

export type ShownEntry = ReturnType<typeof presentLedgerEntry>
type ShownOverride = Pick<LimitOverride, 'scope' | 'limits'> & { readonly subject_id: string }
type GrantInput = { credits: number; ref?: string; note?: string }
type PaymentInput = { usd: number; ref: string; credits?: number }
/** For a project or a key of the organization, or for itself. */
type LimitsInput = { project?: string; key?: string; limits: LimitOverride['limits'] }

export type CreditOperationParts = {
  readonly administer: AuditedMutation<CreditStores>
  readonly ledger: Pick<LedgerStore, 'balance'>
  readonly reports: LedgerReports
  readonly organizationOf: OrganizationOf
  readonly ids: Ids
  /** What a credit is worth. */
  readonly credits: { readonly credit_usd: number }
}

type CreditStores = {
  readonly registry: DirectoryStore
  readonly grants: GrantStore
  readonly overrides: OverrideStore
}

const microUsdPerUsd = 1_000_000
/** More would soon be too much to be added up exactly. */
const mostUsd = 100_000_000

export function createCreditOperations(parts: CreditOperationParts): CreditOperations {
  const { administer, ledger, reports, organizationOf, ids } = parts
  const creditUsd = parts.credits.credit_usd

  return {
    async 'credits.grant'(input) {
      const organizationId = await organizationOf(input)
      const { ref = ids('grant'), note = '' } = input
      const micro = amountOf(input.credits)
      const isNew = await administer(operatorOf(organizationId), async ({ grants }) => {
        const value = await grants.grant({ organizationId, kind: 'grant', ref, micro, note })
        return value
          ? told(value, {
              kind: 'credits.granted',
              resourceId: organizationId,
              details: { credits: input.credits, ref, note },
            })
          : { value }
      })
      return { ...(await balanceOf(organizationId)), is_new: isNew }
    },
    'credits.balance': async (input) => balanceOf(await organizationOf(input)),
    async 'credits.ledger'(input) {
      const { items } = await reports.entries(await organizationOf(input), { limit: input.limit ?? 20, order: 'desc' })
      return items.map(presentLedgerEntry)
    },
    'orgs.setPlan'(input) {
      const { plan } = input
      if (!isPlan(plan)) throw invalid(`There is no plan ${plan}; there are: ${plans.join(', ')}.`)
      return changed(input, { plan }, (registry, id) => registry.setPlan(id, plan))
    },
    'orgs.setMetered': (input) =>
      changed(input, { metered: input.metered }, (registry, id) => registry.setMetered(id, input.metered)),
    async 'orgs.setLimits'(input) {
      const organizationId = await organizationOf(input)
      const { subjectId, ...set } = await administer(operatorOf(organizationId), async ({ registry, overrides }) => {
        const override = await overrideOf(registry, organizationId, input)
        for (const limit of Object.values(override.limits))
          if (!Number.isSafeInteger(limit) || limit < 0) throw invalid(`${limit} is no limit: whole numbers from 0.`)
        await overrides.set(organizationId, override)
        return told(override, {
          kind: 'limits.updated',
          resourceId: override.subjectId,
          details: { scope: override.scope, limits: override.limits },
        })
      })
      return { subject_id: subjectId, ...set }
    },
    /** The tier follows what was paid over the organization's life; the credits it bought come along. */
    async 'orgs.recordPayment'(input) {
      const organizationId = await organizationOf(input)
      const { ref, usd, credits = usd / creditUsd } = input
      if (!(usd > 0)) throw invalid('A payment is more than nothing.')
      if (usd > mostUsd) throw invalid(`A payment is at most ${mostUsd} USD.`)
      const isNew = await administer(operatorOf(organizationId), async ({ registry, grants }) => {
        const payment = { organizationId, kind: 'payment', ref, micro: amountOf(credits), note: `${usd} USD` } as const
        if (!(await grants.grant(payment))) return { value: false }
        await registry.addPayment(organizationId, Math.round(usd * microUsdPerUsd))
        return told(true, { kind: 'payment.recorded', resourceId: organizationId, details: { usd, credits, ref } })
      })
      return { ...(await balanceOf(organizationId)), is_new: isNew }
    },
    'ledger.verify': () => reports.verify(),
  }

  async function changed(
    input: InOrganization,
    details: AuditRecord['details'],
    work: (registry: DirectoryStore, id: string) => Promise<boolean>,
  ): Promise<ShownOrganization> {
    const organizationId = await organizationOf(input)
    const organization = await administer(operatorOf(organizationId), async ({ registry }) => {
      await work(registry, organizationId)
      return told(await known(registry, organizationId), {
        kind: 'organization.updated',
        resourceId: organizationId,
        details,
      })
    })
    return presentOrganization(organization)
  }

  async function balanceOf(organizationId: string): Promise<CreditBalance> {
    const balance = (await ledger.balance(organizationId)) ?? noBalance
    const remaining = remainingMicro(balance)
    return {
      organization_id: organizationId,
      remaining_credits: displayedBalance(remaining),
      debt_credits: inCredits(Math.max(0, -remaining)),
      granted_credits: inCredits(balance.grantedMicro),
      spent_credits: inCredits(balance.spentMicro),
      spent_usd: inUsd(balance.spentMicro, creditUsd),
    }
  }
}

const told = <T>(value: T, record: AuditRecord): WithAuditRecord<T> => ({ value, record })

async function known(registry: DirectoryStore, id: string): Promise<Organization> {
  const found = await registry.findOrganization(id)
  if (found) return found
  throw new Fault('not_found', 'not_found', `There is no organization ${id}.`)
}

async function overrideOf(
  registry: DirectoryStore,
  organizationId: string,
  { project, key, limits }: LimitsInput,
): Promise<LimitOverride> {
  if (key !== undefined) {
    if (await registry.findApiKey(organizationId, key)) return { scope: 'key', subjectId: key, limits }
    throw new Fault('not_found', 'not_found', `There is no API key ${key}.`)
  }
  if (project === undefined) return { scope: 'organization', subjectId: organizationId, limits }
  if (await registry.findProject(organizationId, project)) return { scope: 'project', subjectId: project, limits }
  throw new Fault('not_found', 'not_found', `There is no project ${project}.`)
}

function amountOf(credits: number): number {
  try {
    return toMicro(credits)
  } catch (cause) {
    throw invalid(`${credits} is no amount of credits.`, cause)
  }
}

const invalid = (message: string, cause?: unknown): Fault =>
  new Fault('validation', 'invalid_parameter', message, { cause })
