import { differenceReviews, unreviewedDifferences } from '../adapters/stores/sql/judges/counts.ts'
import { appealStore, findDueAppeals } from '../adapters/stores/sql/policies/appeals.ts'
import { gatewayStore } from '../adapters/stores/sql/policies/gateway-configurations.ts'
import { policyStore } from '../adapters/stores/sql/policies/policies.ts'
import type { Transaction } from '../adapters/stores/sql/database.ts'
import { ConfigError, type Config } from '../config/config.ts'
import { createAppeals, type AppealStores } from '../domain/appeals/appeals.ts'
import { createDecisionAddresses, type DecisionAddresses } from '../domain/appeals/decision-addresses.ts'
import { createExpireAppeals } from '../domain/appeals/expire.ts'
import { createReviewDifferences } from '../domain/judges/review-differences.ts'
import type { DenialAddresses } from '../domain/evaluation/verdict/format.ts'
import type { Explain } from '../domain/explanation/explain.ts'
import { createAddressLimit } from '../domain/identity/address-limit.ts'
import type { DecisionPageParts } from '../http/decisions/page-family.ts'
import { createReadDecision, type ReadDecision } from '../http/decisions/read-decision.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Stores } from './stores.ts'

/** What appeals are made from, in the given transaction. */
export const appealStores =
  (stores: Stores) =>
  (tx: Transaction): AppealStores => ({
    appeals: appealStore(tx, stores.encryptions.appealTexts),
    events: stores.eventsIn(tx),
  })

/** Closes appeals whose time is over, until the app is closed. */
export function openAppealExpiry({ built, database, clock, ids, jobs }: Infrastructure, stores: Stores): void {
  const { mutate } = stores.of(appealStores(stores))
  const expire = createExpireAppeals({
    findDue: findDueAppeals(database),
    mutate,
    appeals: createAppeals({ ids, clock }),
    clock,
  })
  built.use(jobs.start('expire-appeals', expire))
}

/** Lets people review the texts on which judges differ, until the app is closed. */
export function openDifferenceReviews({ built, database, clock, ids, jobs }: Infrastructure, stores: Stores): void {
  const { mutate } = stores.of((tx) => ({ ...appealStores(stores)(tx), differences: differenceReviews(tx) }))
  const review = createReviewDifferences({
    findUnreviewed: unreviewedDifferences(database),
    events: stores.auditLog,
    mutate,
    appeals: createAppeals({ ids, clock }),
    clock,
  })
  built.use(jobs.start('review-judge-differences', review))
}

/** Reads decisions as their callers may see them. */
export const openReadDecision = (
  { config, clock }: Pick<Infrastructure, 'config' | 'clock'>,
  { reading, auditLog, encryptions }: Stores,
  explain: Explain,
): ReadDecision =>
  createReadDecision({
    toCallers: config.explanations.to_callers,
    explain,
    events: auditLog,
    appeals: appealStore(reading, encryptions.appealTexts),
    clock,
    rules: { policies: policyStore(reading), gateway: gatewayStore(reading) },
  })

/** Where denials lead a person; undefined if `explanations.appeals` is off. */
export type AppealAddresses = {
  readonly addresses: DecisionAddresses
  readonly addressesOf: (organizationId: string, eventId: string) => DenialAddresses
}

export function createAppealAddresses({
  config,
  keyring,
}: Pick<Infrastructure, 'config' | 'keyring'>): AppealAddresses | undefined {
  const base = publicBase(config)
  if (base === undefined) return undefined
  const addresses = createDecisionAddresses(keyring)
  return {
    addresses,
    addressesOf(organizationId, eventId) {
      const token = addresses.tokenOf({ organizationId, eventId })
      const explain = { explain_url: `${base}/v1/decisions/${eventId}` }
      return token === undefined ? explain : { ...explain, appeal_url: `${base}/d/${token}` }
    },
  }
}

function publicBase({ explanations, server }: Config): string | undefined {
  const base = server.public_url?.replace(/\/+$/, '')
  if (explanations.appeals === true && base === undefined)
    throw new ConfigError(['explanations.appeals needs server.public_url, the address that people reach'])
  return explanations.appeals === false ? undefined : base
}

/** For each client address and minute. */
const perMinute = { pages: 60, appeals: 6 }

/** The page of a decision; undefined if nothing leads to it. */
export function openDecisionPage(
  { clock, ids }: Pick<Infrastructure, 'clock' | 'ids'>,
  stores: Stores,
  { addresses, read }: { readonly addresses: AppealAddresses | undefined; readonly read: ReadDecision },
): DecisionPageParts | undefined {
  if (addresses === undefined) return undefined
  return {
    addresses: addresses.addresses,
    read,
    appeals: createAppeals({ ids, clock }),
    mutate: stores.of(appealStores(stores)).mutate,
    clock,
    limits: {
      pages: createAddressLimit(clock, perMinute.pages),
      appeals: createAddressLimit(clock, perMinute.appeals),
    },
  }
}
