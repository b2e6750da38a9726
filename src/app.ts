import packageFile from '../package.json' with { type: 'json' }
import { createAdministration } from './app/administration.ts'
import { openAudit } from './app/audit.ts'
import { createApiClient, injectTransport, type ApiClient } from './app/api-client.ts'
import { createFamilies } from './app/families.ts'
import { openEvaluation } from './app/evaluation.ts'
import { openInfrastructure, type World } from './app/infrastructure.ts'
import { createIdentity } from './app/identity.ts'
import { createListeners, type Addresses } from './app/listeners.ts'
import { allPurposes } from './app/listen-addresses.ts'
import { controlSocketPath, createOperatorServer } from './app/operator-server.ts'
import { openModels } from './app/models.ts'
import { watchProcess } from './base/process-metrics.ts'
import { holdMsOf, openPipeline } from './app/pipeline.ts'
import { secretFilesOf } from './app/server-secrets.ts'
import { createRules } from './app/rules.ts'
import { storageChecks } from './app/storage.ts'
import { openExpiry, openStoredResponses } from './app/stored-data.ts'
import { exampleModel } from './app/upstreams.ts'
import { dayMs } from './base/clock.ts'
import type { Config, Environment } from './config/config.ts'
import { createCallerOf } from './http/caller.ts'
import { openControlSocket } from './http/control.ts'
import { describeApi } from './http/service/openapi.ts'
import { createRequestRecorder } from './http/request-record.ts'

export type { World } from './app/infrastructure.ts'
export type { Addresses } from './app/listeners.ts'

/** A running Gatehouse. */
export type App = AsyncDisposable & {
  readonly version: string
  /** What can be asked for, also as `prefix*`. */
  readonly models: readonly string[]
  readonly exampleModel: string | undefined
  /** How limits are counted, in words. */
  readonly limits: string
  /** The operator's API, as the control socket serves it. */
  readonly client: ApiClient
  readonly openapi: () => object
  /** Opens the ports and answers their addresses. */
  listen(): Promise<Addresses>
  /** Not ready at once; no new work after `server.drain_delay_ms`; what is under way may finish for a while. */
  drain(): Promise<void>
}

/** Builds the whole house, storey by storey: the only place that knows which part fits where. */
export async function createApp(config: Config, env: Environment, world: World = {}): Promise<App> {
  await using built = new AsyncDisposableStack()
  const ground = await openInfrastructure(built, config, { env, world })
  const { database, storage, clock, ids, log, metrics } = ground
  const administration = createAdministration({
    ...ground,
    secretFiles: secretFilesOf(config, ground.random),
    credits: config.credits,
    keyDefaults: { permissions: config.keys.default_permissions },
    hasJudge: config.policies.judge !== undefined,
  })
  const { authenticator, freeRequests } = await createIdentity(ground, administration.audit.events)
  const { overrides } = administration.reads
  const served = openModels(ground, env)
  const rules = createRules(ground, served)
  const { govern, sendable, screen, simulate, isAuditRequired } = openEvaluation(ground, administration, {
    ...rules,
    holdMs: holdMsOf(ground, served),
  })
  const road = { freeRequests, overrides, govern, sendable, served }
  const { catalogue, counters, credits, infer, countTokens } = await openPipeline(ground, road)
  const { record, testSink } = built.use(await openAudit({ ...ground, ...administration, isAuditRequired }))
  const stored = await openStoredResponses(ground)
  await openExpiry(ground, stored)

  built.use(watchProcess(metrics))
  const recorder = createRequestRecorder({ clock, log, metrics })
  const callerOf = createCallerOf({ authenticator, freeRequests })
  const listeners = built.use(createListeners(ground, { recorder, identify: callerOf.identify }))
  const parts = {
    catalogue,
    callerOf,
    infer: record(infer),
    testSink,
    simulate,
    admission: credits.admission,
    preflight: credits.preflight,
    readBalance: credits.readBalance,
    creditUsd: config.credits.credit_usd,
    countTokens,
    screen,
    moderationModel: rules.model,
    stored,
    keepMs: config.responses.retention_days * dayMs,
    inFlight: listeners.inFlight,
    clock,
    ids,
    metrics,
    publicUrl: listeners.publicUrl,
    administration,
    administrationLimits: config.administration,
    version: packageFile.version,
    readiness: [
      ...storageChecks({
        database,
        storage,
        isAuditRequired: config.audit.requests && config.audit.on_failure === 'refuse',
      }),
      { part: 'credits', problem: async () => credits.problem() },
      { part: 'limits', problem: async () => counters.trouble(), isVital: () => false },
      { part: 'server', problem: async () => (listeners.isStopping() ? 'stopping' : undefined) },
    ],
  }
  await listeners.serve((purposes) => createFamilies(parts, purposes))
  const operatorServer = await createOperatorServer({
    ...parts,
    log,
    recorder,
    requestTimeoutMs: config.server.request_timeout_ms,
  })
  const kept = built.move()

  return {
    version: packageFile.version,
    models: served.models.map(({ name }) => name),
    exampleModel: exampleModel(config, env),
    limits: counters.says,
    client: createApiClient(injectTransport(operatorServer)),
    openapi: () => describeApi(createFamilies(parts, allPurposes), packageFile.version),
    async listen() {
      if (database.engine === 'sqlite') {
        kept.use(await openControlSocket(controlSocketPath(config.storage.data_dir), operatorServer))
      }
      return listeners.listen()
    },
    drain: listeners.drain,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
