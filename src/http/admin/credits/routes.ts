import type { Route } from '../../route.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { none, periodOf } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { AdminReads } from '../routes.ts'
import { LedgerList, LedgerQuery, type LedgerEntryObject, type LedgerFilterFields } from './schema.ts'
import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { Charge } from '../../../domain/credits/charge.ts'
import type { LedgerEntry, LedgerReports } from '../../../domain/credits/reports.ts'
import { inCredits } from '../../../domain/credits/formatting.ts'

export function ledgerRoutes(admin: AdminReads<{ readonly ledger: LedgerReports }>): Route[] {
  return [
    admin.read({
      name: 'listLedgerEntries',
      path: '/v1/organization/credits/ledger',
      summary: 'List ledger entries',
      permission: 'usage:read',
      isReport: true,
      params: none,
      query: LedgerQuery,
      answer: { description: 'Grants, payments and usage, each usage with its receipt.', schema: LedgerList },
      async operation({ ledger }, { actor, query }) {
        const page = await ledger.entries(actor.organization.id, { ...pageOf(query), ...ledgerFilterOf(query) })
        return presentList(page, presentLedgerEntry)
      },
    }),
  ]
}

type FilterFields = Pick<Static<typeof LedgerQuery>, keyof typeof LedgerFilterFields>

export const ledgerFilterOf = ({ kind, project_id: projectId, request_id: requestId, ...period }: FilterFields) => ({
  ...omitUndefined({ kind, projectId, requestId }),
  ...periodOf(period),
})

export const presentLedgerEntry = (entry: LedgerEntry): Static<typeof LedgerEntryObject> => ({
  id: entry.id,
  object: 'organization.credit_entry',
  created_at: toUnixSeconds(entry.atMs),
  kind: entry.kind,
  credits: inCredits(entry.micro),
  ref: entry.ref,
  note: entry.note,
  receipt: entry.charge && presentReceipt(entry.charge),
})

const presentReceipt = ({ usage, rates, ...charge }: Charge) => ({
  request_id: charge.requestId,
  project_id: charge.projectId,
  api_key_id: charge.keyId,
  model: charge.model,
  outcome: charge.outcome,
  input_tokens: usage.inputTokens,
  cache_read_tokens: usage.cacheReadTokens,
  cache_write_tokens: usage.cacheWriteTokens,
  output_tokens: usage.outputTokens,
  token_source: usage.source,
  reported_tokens: usage.reportedTokens ?? null,
  rates: {
    input: inCredits(rates.input),
    cache_read: inCredits(rates.cacheRead),
    cache_write: inCredits(rates.cacheWrite),
    output: inCredits(rates.output),
    version: rates.version,
  },
})
