import type { Charge, RecordedOutcome } from '../../../../domain/credits/charge.ts'
import { recordedOutcomes } from '../../../../domain/credits/charge.ts'
import type { Balance, Slice, SliceState } from '../../../../domain/credits/ledger-store.ts'
import type { Database, Statement } from '../database.ts'

export type AccountRow = { granted: number; available: number; held: number; spent: number }

export const balanceOf = (row: AccountRow): Balance => ({
  grantedMicro: row.granted,
  availableMicro: row.available,
  heldMicro: row.held,
  spentMicro: row.spent,
})

export const sliceColumns = 'id, organization_id, holder, epoch, amount, settled, state, closing_at'

export type SliceRow = {
  id: string
  organization_id: string
  holder: string
  epoch: string
  amount: number
  settled: number
  state: string
  closing_at: number | null
}

export const sliceOf = (row: SliceRow): Slice => ({
  id: row.id,
  organizationId: row.organization_id,
  holder: row.holder === 'shared' ? 'shared' : 'node',
  epoch: row.epoch,
  amountMicro: row.amount,
  settledMicro: row.settled,
  state: stateOf(row.state),
  closingAtMs: row.closing_at,
})

export const stateOf = (text: string): SliceState => (text === 'open' || text === 'closing' ? text : 'closed')

/** The columns of a charge, each with its type and its value; `id` is new with every attempt to write it. */
const chargeFields: readonly (readonly [
  column: string,
  type: 'text' | 'bigint',
  value: (charge: Charge, id: string) => string | number | null,
])[] = [
  ['request_id', 'text', ({ requestId }) => requestId],
  ['id', 'text', (_, id) => id],
  ['organization_id', 'text', ({ organizationId }) => organizationId],
  ['project_id', 'text', ({ projectId }) => projectId],
  ['key_id', 'text', ({ keyId }) => keyId],
  ['model', 'text', ({ model }) => model],
  ['at', 'bigint', ({ atMs }) => atMs],
  ['outcome', 'text', ({ outcome }) => outcome],
  ['slice_id', 'text', ({ sliceId }) => sliceId],
  ['micro', 'bigint', ({ micro }) => micro],
  ['input_tokens', 'bigint', ({ usage }) => usage.inputTokens],
  ['cache_read_tokens', 'bigint', ({ usage }) => usage.cacheReadTokens],
  ['cache_write_tokens', 'bigint', ({ usage }) => usage.cacheWriteTokens],
  ['output_tokens', 'bigint', ({ usage }) => usage.outputTokens],
  ['source', 'text', ({ usage }) => usage.source],
  ['input_rate', 'bigint', ({ rates }) => rates.input],
  ['cache_read_rate', 'bigint', ({ rates }) => rates.cacheRead],
  ['cache_write_rate', 'bigint', ({ rates }) => rates.cacheWrite],
  ['output_rate', 'bigint', ({ rates }) => rates.output],
  ['rate_version', 'text', ({ rates }) => rates.version],
]

export const chargeColumns = chargeFields.map(([column]) => column).join(', ')

/** The same columns out of rows that travel as one JSON parameter: one statement, however many rows. */
export const givenColumns = chargeFields
  .map(([, type], at) => (type === 'text' ? given(at) : `cast(${given(at)} as bigint)`))
  .join(', ')

export const givenRequestId = given(0)
export const givenId = given(1)
const givenOrganizationId = given(2)

function given(at: number): string {
  return `given.value ->> ${at}`
}

/** `from` for the rows of parameter `$1`. */
export const givenRows = (engine: Database['engine']): string =>
  engine === 'sqlite' ? 'json_each($1) as given' : 'json_array_elements(cast($1 as json)) as given (value)'

export const chargeValues = (charge: Charge, id: string): (string | number | null)[] =>
  chargeFields.map(([, , value]) => value(charge, id))

export function outcomeOf(text: string): RecordedOutcome {
  const outcome = recordedOutcomes.find((one) => one === text)
  if (outcome === undefined) throw new Error(`the ledger holds a ${text}, which this program does not know`)
  return outcome
}

/**
 * First in every step that moves credits: one at a time for each organization, so that no step decides by what another is
 * just changing. SQLite has one writer anyhow.
 */
export const accountLock = (engine: Database['engine'], organizationId: string): Statement[] =>
  engine === 'sqlite' ? [] : [{ sql: `select pg_advisory_xact_lock(${lockKey('$1')})`, params: [organizationId] }]

/** The same for all organizations of the rows in parameter `$1`, always in one order: two such steps cannot block each other. */
export const chargeLocks = (engine: Database['engine']): string[] =>
  engine === 'sqlite'
    ? []
    : [
        `select pg_advisory_xact_lock(place) from (
           select distinct ${lockKey(givenOrganizationId)} as place from ${givenRows(engine)} order by place) as places`,
      ]

function lockKey(organizationId: string): string {
  return `hashtextextended(${organizationId}, 4)`
}

export type ChargeRow = {
  request_id: string
  id: string
  organization_id: string
  project_id: string
  key_id: string
  model: string
  at: number
  outcome: string
  slice_id: string | null
  micro: number
  input_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  output_tokens: number
  source: string
  input_rate: number
  cache_read_rate: number
  cache_write_rate: number
  output_rate: number
  rate_version: string
}

export const chargeOf = (row: ChargeRow): Charge => ({
  requestId: row.request_id,
  organizationId: row.organization_id,
  projectId: row.project_id,
  keyId: row.key_id,
  model: row.model,
  atMs: row.at,
  outcome: outcomeOf(row.outcome),
  sliceId: row.slice_id,
  micro: row.micro,
  usage: {
    inputTokens: row.input_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    outputTokens: row.output_tokens,
    source: row.source === 'reported' ? 'reported' : 'estimated',
  },
  rates: {
    input: row.input_rate,
    cacheRead: row.cache_read_rate,
    cacheWrite: row.cache_write_rate,
    output: row.output_rate,
    version: row.rate_version,
  },
})
