import { csvLine, type Cell } from '../../base/csv.ts'
import { dayMs } from '../../base/clock.ts'
import { exactUsd } from './exact-usd.ts'
import type { NamedKind } from './names.ts'
import type { CostTotals } from './report.ts'
import { tagsOfText } from './tags.ts'

/** What requests of one project, key, model and set of tags cost on a day. End users are left out. */
export type DayCost = CostTotals & {
  readonly projectId: string
  readonly keyId: string
  readonly model: string
  /** As `textOfTags` writes them. */
  readonly tags: string
}

/** What all rows of a day have in common. */
export type FocusDay = {
  readonly organization: { readonly id: string; readonly name: string }
  /** Its start in UTC, Unix seconds. */
  readonly day: number
  readonly creditUsd: number
  readonly names: Readonly<Record<NamedKind, ReadonlyMap<string, string>>>
}

/** The date of a day that is given by its start in UTC. */
export const dateOf = (day: number): string => new Date(day * 1000).toISOString().slice(0, 10)

/** The name of the file of a day, in the layout of partitions that query engines read. */
export const focusFileName = (organizationId: string, day: number): string =>
  `${folder}organization=${organizationId}/day=${dateOf(day)}.csv.gz`

/** The name of a file for a test, out of the folder of the costs. */
export const focusTestName = (organizationId: string, id: string): string =>
  `_test/${folder}organization=${organizationId}/${id}.csv.gz`

const folder = 'focus/v1.2/'

/** The gateway charges for the requests, and a model may have targets of several vendors. */
const provider = 'Gatehouse'
const tokens = 'Tokens'
/** The specification forbids null here. */
const unknownModel = 'unknown'

type CellOf = (row: DayCost, day: FocusDay) => Cell

const costOf: CellOf = ({ costMicro }, { creditUsd }) => exactUsd(costMicro, creditUsd)
const modelOf = ({ model }: DayCost): string => model || unknownModel
const tokensOf: CellOf = (row) => row.inputTokens + row.cacheReadTokens + row.cacheWriteTokens + row.outputTokens

/**
 * The columns of FOCUS 1.2, in its order: the mandatory ones and those that mean something for requests to models. A row has tokens of
 * several prices, so there is no unit price and no id of a price. Own columns begin with `x_`.
 */
const columns: readonly (readonly [name: string, cellOf: CellOf])[] = [
  ['BilledCost', costOf],
  ['BillingAccountId', (_, { organization }) => organization.id],
  ['BillingAccountName', (_, { organization }) => organization.name],
  ['BillingCurrency', () => 'USD'],
  ['BillingPeriodEnd', (_, { day }) => monthOf(day, 1)],
  ['BillingPeriodStart', (_, { day }) => monthOf(day, 0)],
  ['ChargeCategory', () => 'Usage'],
  ['ChargeClass', () => null],
  ['ChargeDescription', (row) => `Requests to ${modelOf(row)}`],
  ['ChargeFrequency', () => 'Usage-Based'],
  ['ChargePeriodEnd', (_, { day }) => timeOf(day * 1000 + dayMs)],
  ['ChargePeriodStart', (_, { day }) => timeOf(day * 1000)],
  ['ConsumedQuantity', tokensOf],
  ['ConsumedUnit', () => tokens],
  ['ContractedCost', costOf],
  ['EffectiveCost', costOf],
  ['InvoiceIssuerName', () => provider],
  ['ListCost', costOf],
  ['PricingCategory', () => 'Standard'],
  ['PricingQuantity', tokensOf],
  ['PricingUnit', () => tokens],
  ['ProviderName', () => provider],
  ['PublisherName', () => provider],
  ['RegionId', () => null],
  ['ResourceId', ({ keyId }) => keyId || null],
  ['ResourceName', ({ keyId }, { names }) => names.key.get(keyId) ?? null],
  ['ResourceType', ({ keyId }) => (keyId === '' ? null : 'API key')],
  ['ServiceCategory', () => 'AI and Machine Learning'],
  ['ServiceName', modelOf],
  ['ServiceSubcategory', () => 'Generative AI'],
  ['SkuId', modelOf],
  ['SubAccountId', ({ projectId }) => projectId || null],
  // The specification forbids null beside an id.
  ['SubAccountName', ({ projectId }, { names }) => names.project.get(projectId) ?? (projectId || null)],
  ['Tags', ({ tags }) => (tags === '' ? null : JSON.stringify(tagsOfText(tags)))],
  ['x_CacheReadTokens', ({ cacheReadTokens }) => cacheReadTokens],
  ['x_CacheWriteTokens', ({ cacheWriteTokens }) => cacheWriteTokens],
  ['x_InputTokens', ({ inputTokens }) => inputTokens],
  ['x_OutputTokens', ({ outputTokens }) => outputTokens],
  ['x_Requests', ({ requests }) => requests],
]

const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** The start of the month of a day, or of a later month. */
function monthOf(day: number, monthsLater: number): string {
  const date = new Date(day * 1000)
  return timeOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsLater))
}

const rowsAtOnce = 1_000

/** The header and the rows as CSV, in parts, so that a large day is never one text in memory. */
export function* focusCsv(rows: readonly DayCost[], day: FocusDay): Generator<string> {
  yield csvLine(columns.map(([name]) => name))
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const some = rows.slice(at, at + rowsAtOnce)
    yield some.map((row) => csvLine(columns.map(([, cellOf]) => cellOf(row, day)))).join('')
  }
}
