import { hostname } from 'node:os'
import { hourMs } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Config } from '../config/config.ts'
import { testCostFile } from '../adapters/sinks/cost-file.ts'
import { openSink, choiceOf, findSinkKind } from '../adapters/sinks/registry.ts'
import type { AwsCredentials } from '../adapters/sinks/sigv4.ts'
import { readBacklog } from '../adapters/stores/sql/exports/backlog.ts'
import { deliveryStore, releaseAllLeases } from '../adapters/stores/sql/exports/delivery.ts'
import type { Configuration } from '../domain/audit/export/configuration.ts'
import type { ClaimedSink } from '../domain/audit/export/delivery-store.ts'
import { deliveryOutcomes, type OpenedSink } from '../domain/audit/export/sink.ts'
import { createBacklogGauges } from '../jobs/export-backlog.ts'
import { createSenders } from '../pipeline/export/senders.ts'
import type { SinkTestParts } from '../pipeline/export/test-sink.ts'
import { openCostFiles } from './cost-files.ts'
import type { LiveValues } from './live-values.ts'
import type { Infrastructure } from './infrastructure.ts'
import { createSinkAddressRules } from './sink-addresses.ts'
import type { Stores } from './stores.ts'

const leaseMs = 15_000

export type OpenExports = AsyncDisposable & {
  /** Opens a sink with its own connections, for one call. */
  open(type: string, config: Configuration): OpenedSink & AsyncDisposable
  /** Makes the file that the test of a sink of costs writes. */
  readonly testFile: SinkTestParts['testFile']
}

/** Sends the audit log to export sinks. */
export async function openExports(infrastructure: Infrastructure, stores: Stores): Promise<OpenExports> {
  const { config, database, clock, random, network, ids, log, metrics, live, jobs } = infrastructure
  await using opened = new AsyncDisposableStack()
  if (database.engine === 'sqlite') await releaseAllLeases(database)
  const { guard } = createSinkAddressRules(config.exports)
  const sinkParts = { guard, clock, random, network, instance: hostname() }
  const open = (type: string, settings: Configuration): OpenedSink & AsyncDisposable => {
    const kind = findSinkKind(type)
    if (!kind) throw new Error(`There is no sink of the type ${type}.`)
    const awsCredentials = awsCredentialsOf(config.exports, live)
    return { ...openSink(kind, settings, { ...sinkParts, awsCredentials }), choice: choiceOf(settings) }
  }
  const openClaimed = (claimed: ClaimedSink) => open(claimed.type, claimed.openConfig())
  const owner = ids('node')
  const store = deliveryStore({
    database,
    clock,
    events: stores.audit.events,
    encryption: stores.encryptions.exportSecrets,
    owner,
    leaseMs,
  })
  const senders = opened.use(
    createSenders({
      store,
      clock,
      random,
      leaseMs,
      watermarks: {
        alarmAfterMs: config.exports.alarm_after_hours * hourMs,
        alarmAfterEvents: config.exports.alarm_after_events,
      },
      open: openClaimed,
      onOutcome: countOutcomes(metrics, log),
      onError: (error, sinkId) => log.warn({ sink: sinkId, error: String(error) }, 'an export failed'),
    }),
  )
  opened.use(jobs.start('send-exports', senders.startDue))
  openCostFiles(infrastructure, { opened, store, owner, leaseMs, open: openClaimed })
  const backlogGauges = createBacklogGauges({ clock, metrics, readBacklog: () => readBacklog(database) })
  opened.use(jobs.start('measure-export-backlog', backlogGauges))
  const kept = opened.move()
  return { open, testFile: testCostFile, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

function countOutcomes(metrics: Metrics, log: Log) {
  const labels = { outcome: deliveryOutcomes }
  const outcomes = metrics.counter('gatehouse_export_events_total', 'Events sent to sinks, by outcome.', labels)
  return (outcome: { readonly kind: string; readonly cause?: unknown }, { id }: { readonly id: string }): void => {
    outcomes.add({ outcome: outcome.kind })
    // Network errors of a destination are only logged, because tenants must not see them.
    if (outcome.cause !== undefined) log.info({ sink: id, error: String(outcome.cause) }, 'a sink cannot be reached')
  }
}

function awsCredentialsOf({ aws }: Config['exports'], live: LiveValues): AwsCredentials | undefined {
  if (!aws) return undefined
  return {
    accessKeyId: live.read('exports.aws.access_key_id', aws.access_key_id),
    secretAccessKey: live.read('exports.aws.secret_access_key', aws.secret_access_key),
    sessionToken: live.read('exports.aws.session_token', aws.session_token),
  }
}
