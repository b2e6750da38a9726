import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { choiceOf } from '../../src/adapters/sinks/registry.ts'
import { s3 } from '../../src/adapters/sinks/s3.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { costFileStore } from '../../src/adapters/stores/sql/exports/cost-files.ts'
import { dayTotals } from '../../src/adapters/stores/sql/rollup/cost-days.ts'
import { readCostFile } from '../../src/app/encoding-thread/cost-file.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { ExportSink } from '../../src/domain/audit/export/export-sink.ts'
import type { DeliveryOutcome } from '../../src/domain/audit/export/sink.ts'
import type { CostFile } from '../../src/domain/costs/cost-days.ts'
import type { Charge } from '../../src/domain/credits/charge.ts'
import { createCostFileWriter } from '../../src/pipeline/export/cost-files.ts'
import { chargeOf } from './credits.ts'
import { leaseMs, openExportStore } from './export-store.ts'
import { rowsOfCsv } from './csv.ts'
import { startReceiver, type Reply } from './receiver.ts'
import { s3Auth, s3Store, type S3Objects } from './s3-store.ts'
import { sinkParts } from './sink-parts.ts'

export const creditUsd = 0.001

/** Sinks of costs that write to a store in this process, from charges in the ledger. `org_1` pays no credits. */
export async function openCostFileScene(t: TestContext, database: Database) {
  const exports = await openExportStore(database)
  const { clock } = exports.log
  await exports.log.append(1) // the log of an organization begins with its creation
  const ids = createIds(clock, systemRandom)
  const ledger = ledgerStore(database, { ids, clock })
  const objects: S3Objects = new Map()
  const errors: unknown[] = []
  const outcomes: DeliveryOutcome['kind'][] = []
  let failure: (() => Reply | undefined) | undefined
  const receiver = await startReceiver(t, (received) =>
    s3Store({ nowMs: clock.nowMs(), ...(failure && { failure }) }, objects)(received),
  )
  const parts = sinkParts(t, { clock })
  const report: Database['report'] = (sql, params) => database.report(sql, params)

  const writer = (owner: string, options: { maxRows?: number; onRead?: () => Promise<void> } = {}) => {
    const { onRead, ...limits } = options
    return createCostFileWriter({
      store: exports.node(owner),
      files: costFileStore({ database, clock, owner }),
      costs: {
        totals: dayTotals(report, clock),
        async file(organizationId, day): Promise<CostFile> {
          await onRead?.()
          return readCostFile(report, { organizationId, day, creditUsd, nowMs: clock.nowMs(), ...limits })
        },
      },
      open(claimed) {
        const config = claimed.openConfig()
        return { ...s3.open(config, parts), choice: choiceOf(config), async [Symbol.asyncDispose]() {} }
      },
      creditUsd,
      clock,
      random: parts.random,
      leaseMs,
      onOutcome: ({ kind }) => void outcomes.push(kind),
      onError: (error) => void errors.push(error),
    })
  }

  return {
    ...exports,
    clock,
    database,
    ledger,
    objects,
    receiver,
    errors,
    outcomes,
    writer,
    fail: (how: (() => Reply | undefined) | undefined) => void (failure = how),
    async addCostSink(config: object = {}): Promise<ExportSink> {
      const sink: ExportSink = {
        id: ids('sink'),
        organizationId: 'org_1',
        type: 's3',
        label: 'Costs',
        enabled: true,
        config: {
          sends: 'costs',
          bucket: 'audit',
          region: 'eu-central-1',
          endpoint: receiver.origin,
          prefix: 'costs',
          auth: { ...s3Auth, secret_access_key: '••••' },
          ...config,
        },
        version: 1,
        createdAtMs: clock.nowMs(),
        updatedAtMs: clock.nowMs(),
      }
      const secrets = { 'auth.secret_access_key': s3Auth.secret_access_key }
      await exports.within((store) => store.insert(sink, secrets, 'now'))
      return sink
    },
    health: async ({ id }: ExportSink) =>
      (await exports.within((store) => store.find('org_1', id)))?.health ?? assert.fail(),
    /** Writes a charge that was made at this time. */
    charge: (requestId: string, charge: Partial<Charge>) =>
      ledger.settle({ ...chargeOf(requestId, 0, null), costMicro: 1, ...charge }),
    /** The rows of a written file. */
    rows: (key: string) => rowsOfCsv(objects.get(key)?.text ?? assert.fail(`there is no ${key}`)),
  }
}

export const costFileKey = (date: string): string => `costs/focus/v1.2/organization=org_1/day=${date}.csv.gz`
