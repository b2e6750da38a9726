import { hostname } from 'node:os'
import { systemClock, type Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { createIds } from '../../base/ids.ts'
import { createLog } from '../../base/log.ts'
import { createMetrics } from '../../base/metrics.ts'
import { systemRandom } from '../../base/random.ts'
import type { Config } from '../../config/config.ts'
import { createChanges } from '../../domain/mutations/changes.ts'
import { createRequestRecorder } from '../../http/request-record.ts'
import { consoleUrl } from '../console-url.ts'
import { createApiClient, injectTransport, type ApiClient } from './api-client.ts'
import { createOperatorServer } from '../operator-server.ts'
import { createReportLimit } from '../report-limit.ts'
import { openStorage } from '../storage/storage.ts'
import { createStorageStatus } from '../storage/storage-status.ts'
import { createFeatures } from '../features/features.ts'
import type { AlertServerParts } from '../features/alerts.ts'
import type { RunningServerParts } from '../features/feature.ts'
import { createStores } from '../stores.ts'
import { directoryStore } from '../../adapters/stores/sql/identity/directory.ts'

/** The operator's API, of a running server or of this process. */
export type Connection = AsyncDisposable & {
  readonly client: ApiClient
  readonly clock: Clock
  readonly migrationsApplied: number
  /** A server on the network, which an administrator key calls. It does not serve the routes of the operator. */
  readonly isRemote?: true
}

/** Serves the operator's API in this process, for a command without a running server. */
export async function openInProcess(config: Config): Promise<Connection> {
  const [clock, random] = [systemClock, systemRandom]
  await using opened = new AsyncDisposableStack()
  const storage = opened.use(await openStorage(config, { clock, random }))
  const ids = createIds(clock, random)
  const { database, keyring, verification, encoding } = storage
  const { data_dir: dataDir } = config.storage
  const stores = createStores({ database, clock, random, ids, changes: createChanges(clock), keyring, dataDir })
  const readStorage = createStorageStatus({ config, dataDir, database, clock })
  const log = createLog({ level: 'silent' })
  const metrics = createMetrics()
  const server = await createOperatorServer({
    features: createFeatures(
      { config, database, clock, random, ids, keyring, verification, encoding, stores },
      withoutServer({ node: { id: ids('node'), host: hostname() }, readStorage }),
    ),
    directory: directoryStore(stores.reading),
    reports: createReportLimit({ database, config }),
    clock,
    ids,
    log,
    readMetrics: async () => metrics.expose(),
    recorder: createRequestRecorder({ clock, log, metrics }),
    requestTimeoutMs: config.server.request_timeout_ms,
    publicUrl: () => '',
    consoleUrl: config.console.enabled ? () => consoleUrl(config.server) : undefined,
    readiness: [],
    isShuttingDown: () => false,
  })
  opened.defer(() => server.close())
  const kept = opened.move()
  return {
    client: createApiClient(injectTransport(server)),
    clock,
    migrationsApplied: storage.migrationsApplied,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Models, limits in use and export sinks are parts of a running server only. */
const withoutServer = (
  known: Pick<RunningServerParts['installation'], 'node' | 'readStorage'>,
): RunningServerParts & AlertServerParts => ({
  evaluation: {
    simulate: needsServer,
    findEvidence: needsServer,
    explain: needsServer,
    inspectRule: needsServer,
    decodeBody: needsServer,
  },
  installation: {
    ...known,
    listServedModels: needsServer,
    upstreams: {
      list: needsServer,
      listOwn: needsServer,
      probe: needsServer,
      offered: needsServer,
      test: needsServer,
    },
    entries: {
      isEnabled: true,
      hasModel: needsServer,
      abilitiesOf: needsServer,
      kindOf: needsServer,
      abilitiesIn: needsServer,
      mayUseUpstreams: needsServer,
      maxRequestMs: 0,
    },
    readSystem: needsServer,
  },
  preflight: needsServer,
  readHeld: async () => null,
  modelSetOf: needsServer,
  testSink: needsServer,
  testChannel: needsServer,
  inFlight: { count: () => 0 },
  readiness: [],
})

const needsServer = (): never => {
  throw new Fault('unavailable', 'unavailable', 'This needs a running server: start it with gatehouse serve.')
}
