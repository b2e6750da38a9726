import type { Charge, WrittenOutcome } from '../../../../domain/credits/charge.ts'
import { writtenOutcomes } from '../../../../domain/credits/charge.ts'
import type { Balance, Slice, SliceState } from '../../../../domain/credits/ledger-store.ts'
import type { Database, Statement, Value } from '../database.ts'

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

/** An attempt to write a charge. The id of its entry is new with every attempt. */
export type Attempt = { readonly charge: Charge; readonly id: string }

export const chargeColumns = [
  'request_id',
  'id',
  'organization_id',
  'project_id',
  'key_id',
  'model',
  'at',
  'outcome',
  'slice_id',
  'micro',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'source',
  'input_rate',
  'cache_read_rate',
  'cache_write_rate',
  'output_rate',
  'rate_version',
  'reported_tokens',
] as const

/** In the order of the columns. */
export const chargeValues = ({ charge, id }: Attempt): Value[] => [
  charge.requestId,
  id,
  charge.organizationId,
  charge.projectId,
  charge.keyId,
  charge.model,
  charge.atMs,
  charge.outcome,
  charge.sliceId,
  charge.micro,
  charge.usage.inputTokens,
  charge.usage.cacheReadTokens,
  charge.usage.cacheWriteTokens,
  charge.usage.outputTokens,
  charge.usage.source,
  charge.rates.input,
  charge.rates.cacheRead,
  charge.rates.cacheWrite,
  charge.rates.output,
  charge.rates.version,
  charge.usage.reportedTokens ?? null,
]

export function outcomeOf(text: string): WrittenOutcome {
  const outcome = writtenOutcomes.find((one) => one === text)
  if (outcome === undefined) throw new Error(`the ledger contains the unknown outcome ${text}`)
  return outcome
}

/**
 * The first statement of every step that moves credits. It lets one step per organization run at a time, so that no step decides
 * by values that another is changing. SQLite needs no lock, because it has one writer.
 */
export const accountLock = (engine: Database['engine'], organizationId: string): Statement[] =>
  engine === 'sqlite' ? [] : [{ sql: `select pg_advisory_xact_lock(${lockKey('$1')})`, params: [organizationId] }]

/** The same for the organization of a slice. */
export const accountLockOfSlice = (engine: Database['engine'], sliceId: string): Statement[] =>
  engine === 'sqlite'
    ? []
    : [
        {
          sql: `select pg_advisory_xact_lock(${lockKey('organization_id')}) from credit_slice where id = $1`,
          params: [sliceId],
        },
      ]

/** The same for several organizations, always in the same order, so that two such steps cannot deadlock. */
export const accountLocks = (engine: Database['engine'], organizationIds: ReadonlySet<string>): Statement[] =>
  engine === 'sqlite'
    ? []
    : [
        {
          sql: `select pg_advisory_xact_lock(lock_key) from (
            select distinct ${lockKey('id')} as lock_key
            from json_array_elements_text(cast($1 as json)) as given (id) order by lock_key) as lock_keys`,
          params: [JSON.stringify([...organizationIds])],
        },
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
  reported_tokens: number | null
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
    ...(row.reported_tokens !== null && { reportedTokens: row.reported_tokens }),
  },
  rates: {
    input: row.input_rate,
    cacheRead: row.cache_read_rate,
    cacheWrite: row.cache_write_rate,
    output: row.output_rate,
    version: row.rate_version,
  },
})
