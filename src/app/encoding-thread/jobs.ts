import { auditReads } from '../../adapters/stores/sql/audit/events.ts'
import { namesIn } from '../../adapters/stores/sql/identity/names.ts'
import { costStore } from '../../adapters/stores/sql/rollup/costs.ts'
import { ledgerReports } from '../../adapters/stores/sql/credits/reports.ts'
import type { Database, Transaction } from '../../adapters/stores/sql/database.ts'
import { auditExportPage } from '../../http/admin/audit-logs/export.ts'
import { proofPage } from '../../http/admin/audit-logs/proof/page.ts'
import { ledgerExportPage } from '../../http/admin/credits/export.ts'
import { requestExportPage } from '../../http/admin/requests/export.ts'
import { encodeUsage, type UsageInput } from '../../http/admin/usage/encode.ts'
import { encodeCosts, type CostsInput } from '../../http/admin/costs/encode.ts'
import { hashedEventsPage } from '../../http/operator/audit-log-events.ts'
import { readCostFile, type CostFileInput } from './cost-file.ts'

export type EncodingReads = Pick<Database, 'engine'> & Pick<Transaction, 'query'>

/** The parts of long responses that a thread reads and encodes, each with the stores that it needs. */
const jobs = {
  auditExport: (reads: EncodingReads, input: InputOf<typeof auditExportPage>) =>
    auditExportPage(eventsOf(reads), input),
  requestExport: (reads: EncodingReads, input: InputOf<typeof requestExportPage>) =>
    requestExportPage(eventsOf(reads), input),
  ledgerExport: (reads: EncodingReads, input: InputOf<typeof ledgerExportPage>) =>
    ledgerExportPage(ledgerOf(reads), input),
  auditProof: (reads: EncodingReads, input: InputOf<typeof proofPage>) => proofPage(eventsOf(reads), input),
  hashedEvents: (reads: EncodingReads, input: InputOf<typeof hashedEventsPage>) =>
    hashedEventsPage(eventsOf(reads), input),
  usage: (reads: EncodingReads, input: UsageInput & { readonly userDays: number }) =>
    encodeUsage(ledgerOf(reads, input), input),
  costs: ({ query }: EncodingReads, input: CostsInput & { readonly userDays: number }) =>
    encodeCosts(
      {
        costs: costStore(query, { clock: { nowMs: () => input.nowMs }, userDays: input.userDays }),
        names: namesIn(query),
      },
      input,
    ),
  costFile: ({ query }: EncodingReads, input: CostFileInput) => readCostFile(query, input),
}

type InputOf<Encode> = Encode extends (reads: never, input: infer Input) => unknown ? Input : never

type Jobs = typeof jobs
export type EncodingKind = keyof Jobs
export type EncodingInput<Kind extends EncodingKind> = Parameters<Jobs[Kind]>[1]
export type EncodingResult<Kind extends EncodingKind> = Awaited<ReturnType<Jobs[Kind]>>

export const runEncoding = <Kind extends EncodingKind>(
  reads: EncodingReads,
  kind: Kind,
  input: EncodingInput<Kind>,
): Promise<EncodingResult<Kind>> => {
  const job = jobs[kind] as (reads: EncodingReads, input: EncodingInput<Kind>) => Promise<EncodingResult<Kind>>
  return job(reads, input)
}

const eventsOf = ({ engine, query }: EncodingReads) => auditReads({ query }, { isPartitioned: engine === 'postgres' })

/** Entries do not depend on the time. */
const ledgerOf = ({ query }: EncodingReads, { nowMs, userDays } = { nowMs: 0, userDays: 0 }) =>
  ledgerReports({ report: query }, { clock: { nowMs: () => nowMs }, userDays })
