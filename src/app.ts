import packageFile from '../package.json' with { type: 'json' }
import { directoryStore } from './adapters/stores/sql/identity/directory.ts'
import { openAlerts } from './app/alerts/alerts.ts'
import { openInference } from './app/inference.ts'
import { createApiClient, injectTransport, type ApiClient } from './app/client/api-client.ts'
import { consoleUrl } from './app/console-url.ts'
import { createFamilies, type FamilyParts } from './app/families.ts'
import { createFeatures } from './app/features/features.ts'
import { openInfrastructure } from './app/infrastructure.ts'
import type { World } from './app/world.ts'
import { createIdentity } from './app/identity.ts'
import { createListeners, type Addresses } from './app/listeners.ts'
import { allPurposes, type Purpose } from './app/listen-addresses.ts'
import { controlSocketPath } from './app/client/control-socket-path.ts'
import { createOperatorServer } from './app/operator-server.ts'
import { summarizeModels, type ModelSummary } from './app/upstreams/models.ts'
import { createReportLimit } from './app/report-limit.ts'
import { openServerMetrics } from './app/server-metrics.ts'
import { createStores } from './app/stores.ts'
import { createSystem } from './app/diagnostics/system.ts'
import { exampleModel } from './app/upstreams/upstreams.ts'
import { readinessOf } from './app/diagnostics/readiness.ts'
import type { Config, Environment } from './config/config.ts'
import { createCallerOf } from './http/caller.ts'
import { createReadHeld } from './domain/budgets/held.ts'
import { tierTable, withOverrides } from './domain/limits/tiers.ts'
import { openControlSocket } from './http/control.ts'
import type { EndpointFamily } from './http/route.ts'
import { describeApi } from './http/service/openapi.ts'
import { createRequestRecorder } from './http/request-record.ts'

export type { World } from './app/world.ts'

export type { Addresses } from './app/listeners.ts'

/** A running Gatehouse. */
export type App = AsyncDisposable & {
  readonly version: string
  readonly models: () => Promise<ModelSummary>
  /** Describes where limits are counted, for the start message. */
  readonly limits: string
  /** The operator's API, as the control socket serves it. */
  readonly client: ApiClient
  readonly openapi: () => object
  /** The endpoints of a port, for the build of the documentation. */
  readonly familiesOf: (purposes: ReadonlySet<Purpose>) => readonly EndpointFamily[]
  /** The plan of a new organization, for the start message. */
  readonly plan: { readonly name: string; readonly requestsPerMinute: number }
  /** Opens the ports, and returns their addresses. The app is ready once `prepare` has resolved. */
  listen(prepare?: () => Promise<void>): Promise<Addresses>
  /** Starts the shutdown: not ready at once, no new requests after `server.drain_delay_ms`, then a deadline for running ones. */
  drain(): Promise<void>
}

/** What `scripts/build-console.mjs` and `scripts/build-docs.mjs` write. */
const consoleFolder = new URL('../console/dist/', import.meta.url)
const docsFolder = new URL('../docs/dist/', import.meta.url)

/** Creates all parts and connects them, layer by layer: infrastructure, stores, identity, inference, features, ports. */
export async function createApp(config: Config, env: Environment, world: World = {}): Promise<App> {
  await using built = new AsyncDisposableStack()
  const infrastructure = await openInfrastructure(built, config, { env, world })
  const { database, clock, ids, log, metrics, readMetrics } = infrastructure
  const stores = createStores(infrastructure)
  const { authenticator, freeRequests, sessions, oidc, onDenied } = await createIdentity(infrastructure, stores)
  const inference = await openInference(infrastructure, stores, { freeRequests, env })
  const { served, counters, credits, audit } = inference
  const recorder = createRequestRecorder({ clock, log, metrics, onDenied })
  const callerOf = createCallerOf({ authenticator, freeRequests, sessions })
  const listeners = built.use(createListeners(infrastructure, { recorder, identify: callerOf.identify }))
  const reports = createReportLimit(infrastructure)
  openServerMetrics(infrastructure, { version: packageFile.version, inFlight: listeners.inFlight, reports })
  const start = createStart()
  const serverProblem = () => (listeners.isShuttingDown() ? 'stopping' : start.problem())
  const readiness = readinessOf(infrastructure, { credits, counters, audit, serverProblem })
  const { inFlight, isShuttingDown, publicUrl } = listeners
  const installation = createSystem(infrastructure, { served, env, counters, readiness })
  const { testChannel } = await openAlerts(infrastructure, stores, installation)
  const features = createFeatures(
    { ...infrastructure, stores },
    {
      evaluation: inference.evaluation,
      installation,
      preflight: credits.preflight,
      readHeld: createReadHeld({ ...counters, creditUsd: config.credits.credit_usd }),
      modelSetOf: served.modelSetOf,
      testSink: audit.testSink,
      testChannel,
      inFlight,
      readiness,
    },
  )
  const directory = directoryStore(stores.reading)
  const parts: FamilyParts = {
    inference: { ...inference.endpoints, callerOf, inFlight },
    features,
    administration: { limits: config.administration, reports, isShuttingDown, directory },
    service: { version: packageFile.version, readiness, readMetrics, docsFolder },
    console: sessions && { authenticator, sessions, oidc, folder: consoleFolder, random: infrastructure.random },
    publicUrl,
    configuredUrl: config.server.public_url,
  }
  const familiesOf = (purposes: ReadonlySet<Purpose>) => createFamilies(parts, purposes)
  await listeners.serve(familiesOf)
  const operatorServer = await createOperatorServer({
    features,
    directory,
    reports,
    clock,
    ids,
    log,
    readiness,
    readMetrics,
    isShuttingDown,
    publicUrl,
    consoleUrl: sessions && (() => consoleUrl(config.server, listeners.administrationUrl())),
    recorder,
    requestTimeoutMs: config.server.request_timeout_ms,
  })
  const kept = built.move()

  return {
    version: packageFile.version,
    models: () => summarizeModels(served, exampleModel(config, env)),
    limits: counters.description,
    client: createApiClient(injectTransport(operatorServer)),
    openapi: () => describeApi(familiesOf(allPurposes), { version: packageFile.version, url: parts.configuredUrl }),
    familiesOf,
    plan: newPlanOf(config),
    listen: (prepare) =>
      start.run(prepare, async () => {
        if (database.engine === 'sqlite')
          kept.use(await openControlSocket(controlSocketPath(config.storage.data_dir), operatorServer))
        return listeners.listen()
      }),
    drain: listeners.drain,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Keeps the app from being ready until what the start prepares is done. */
function createStart() {
  let problem: string | undefined
  return {
    problem: () => problem,
    async run<T>(prepare: (() => Promise<void>) | undefined, open: () => Promise<T>): Promise<T> {
      problem = prepare && 'the first start is not complete yet'
      const opened = await open()
      await prepare?.()
      problem = undefined
      return opened
    },
  }
}

const newPlanOf = ({ limits }: Config): App['plan'] => ({
  name: 'free',
  requestsPerMinute: withOverrides(tierTable, limits.tiers).free.rpm,
})
