import type { AddressInfo } from 'node:net'
import packageFile from '../package.json' with { type: 'json' }
import { openControlSocket } from './http/control.ts'
import { controlSocketPath } from './app/control.ts'
import { createAdministration } from './app/administration.ts'
import { openAuditOffice } from './app/audit.ts'
import { createFamilies } from './app/families.ts'
import { createProviders } from './app/providers.ts'
import { createTokenVerifier } from './app/tokens.ts'
import { effectiveModels, effectiveUpstreams } from './app/upstreams.ts'
import type { Operations } from './app/operations.ts'
import { openStorage } from './app/storage.ts'
import { credentialStore } from './adapters/stores/sql/credentials.ts'
import { watchChanges } from './adapters/stores/sql/change.ts'
import { sweepIdempotency } from './adapters/stores/sql/idempotency.ts'
import { storedResponses } from './adapters/stores/sql/stored-responses.ts'
import { createTokenizer } from './adapters/tokenizer/tokenizer.ts'
import { everySoOften, systemClock, type Clock } from './base/clock.ts'
import { Fault } from './base/fault.ts'
import { createIds } from './base/ids.ts'
import { createLog, type Log } from './base/log.ts'
import { createMetrics } from './base/metrics.ts'
import { systemRandom, type Random } from './base/random.ts'
import type { Config } from './config.ts'
import { createAuthFailures } from './domain/identity/auth-failures.ts'
import { createAuthenticator } from './domain/identity/authenticate.ts'
import { createChanges } from './domain/identity/changes.ts'
import { createFreeRequests } from './domain/identity/free-request.ts'
import { createDigest, deriveKey } from './domain/identity/key-format.ts'
import { createCatalogue } from './domain/inference/catalogue.ts'
import { createUpstreamHealth } from './domain/inference/health.ts'
import { createLearnedFactors } from './domain/inference/learned-factor.ts'
import { createCallerOf } from './http/caller.ts'
import { createInFlight } from './http/in-flight.ts'
import { describeApi } from './http/openapi.ts'
import { createRequestRecorder } from './http/request-record.ts'
import { createServer } from './http/server.ts'
import { createCountTokens, createFactorLearner } from './pipeline/count-tokens.ts'
import { createInfer } from './pipeline/infer.ts'

/** A running Gatehouse. */
export type House = AsyncDisposable & {
  readonly version: string
  readonly models: readonly string[]
  readonly operations: Operations
  readonly openapi: object
  /** Opens the door and answers its address. */
  listen(): Promise<string>
  /** No new work; what is under way may finish for a while, then its callers are told. */
  drain(): Promise<void>
}

/** What tests put in place of the world. */
export type World = { readonly clock?: Clock; readonly random?: Random; readonly log?: Log }

type Environment = Readonly<Record<string, string | undefined>>

const dayMs = 24 * 60 * 60 * 1000
const drainMs = 30_000
const watchChangesEveryMs = 500
const sweepEveryMs = 60 * 60 * 1000

/** Builds the whole house: the only place that knows which part fits where. */
export async function createHouse(config: Config, env: Environment, world: World = {}): Promise<House> {
  const { clock = systemClock, random = systemRandom } = world
  await using built = new AsyncDisposableStack()
  const ids = createIds(clock, random)
  const metrics = createMetrics()
  const storage = built.use(await openStorage(config, { clock, random }))
  const { database, secret } = storage
  const upstreams = effectiveUpstreams(config, env)
  const log =
    world.log ??
    createLog({ level: config.log.level, secrets: [secret, ...upstreams.flatMap(({ api_key: key }) => key ?? [])] })
  built.defer(() => log.flush())

  const changes = createChanges()
  const digest = createDigest(deriveKey(secret, 'key pepper'))
  const administration = createAdministration({ database, clock, random, ids, changes, digest, secret })
  built.use(
    sweepIdempotency({
      database,
      clock,
      everyMs: sweepEveryMs,
      onError: (error) => log.warn({ error: String(error) }, 'expired idempotency keys could not be removed'),
    }),
  )
  if (database.engine === 'postgres') {
    const onError = (error: unknown): void =>
      log.warn({ error: String(error) }, 'changes of other nodes cannot be seen')
    built.use(watchChanges({ database, clock, changes, everyMs: watchChangesEveryMs, onError }))
  }

  const credentials = credentialStore(database)
  const authenticator = createAuthenticator({
    store: credentials,
    digest,
    clock,
    changes,
    failures: createAuthFailures(clock, config.server.auth_failures_per_minute),
    verifyToken: await createTokenVerifier(config, clock),
    onTouchFailed: (error) => log.warn({ error: String(error) }, 'the use of a key could not be noted'),
  })
  const freeRequests = createFreeRequests({
    store: credentials,
    clock,
    hashKey: deriveKey(secret, 'free request'),
    dailyCap: config.free_tier.daily_requests,
  })

  const catalogue = createCatalogue(effectiveModels(config, env, clock.nowMs()))
  const providers = built.use(
    createProviders(upstreams, { clock, ids, proofKey: deriveKey(secret, 'reasoning proof') }),
  )
  const { count } = built.use(createTokenizer(clock))
  const counting = { catalogue, providers: providers.byName, factors: createLearnedFactors(), count, clock }
  const infer = createInfer({
    catalogue,
    learnFactor: createFactorLearner(counting),
    providers: providers.byName,
    health: createUpstreamHealth(clock),
    clock,
    random,
    creditUsd: config.credits.credit_usd,
    freeRequests,
    freeOutputTokens: config.free_tier.max_output_tokens,
    onFailedCall: ({ upstream }, fault) =>
      log.warn({ upstream, code: fault.code, error: String(fault.cause ?? '') }, fault.message),
  })
  const auditOffice = built.use(
    await openAuditOffice({ config, database, clock, random, ids, log, metrics, ...administration }),
  )

  const stored = storedResponses(database)
  built.use(
    everySoOften(clock, () =>
      stored
        .removeExpired(clock.nowMs())
        .catch((error) => log.warn({ error: String(error) }, 'expired responses could not be removed')),
    ),
  )

  const inFlight = createInFlight()
  let isStopping = false
  let address = ''
  const publicUrl = (): string => config.server.public_url ?? address
  const recorder = createRequestRecorder({ clock, log, metrics })
  const families = createFamilies({
    catalogue,
    callerOf: createCallerOf({ authenticator, freeRequests, recorder }),
    infer: auditOffice.record(infer),
    noteRefusal: recorder.refused,
    countTokens: createCountTokens(counting),
    stored,
    keepMs: config.responses.retention_days * dayMs,
    inFlight,
    clock,
    ids,
    metrics,
    publicUrl,
    administration,
    testSink: auditOffice.testSink,
    administrationLimits: config.administration,
    version: packageFile.version,
    readiness: [
      {
        part: 'storage',
        problem: () =>
          database.read('select 1 as one').then(
            () => undefined,
            (error: Error) => error.message,
          ),
      },
      { part: 'server', problem: async () => (isStopping ? 'stopping' : undefined) },
    ],
  })
  const server = await createServer({
    families,
    recorder,
    clock,
    ids,
    log,
    requestTimeoutMs: config.server.request_timeout_ms,
    trustProxy: config.server.trust_proxy,
  })
  built.defer(() => server.close())
  const openapi = describeApi(families, packageFile.version)
  const kept = built.move()

  return {
    version: packageFile.version,
    models: catalogue.list().map(({ name }) => name),
    operations: administration.operations,
    openapi,
    async listen() {
      if (database.engine === 'sqlite') {
        kept.use(await openControlSocket(controlSocketPath(config.storage.data_dir), administration.operations))
      }
      await server.listen({ host: config.server.host, port: config.server.port })
      address = addressOf(server.server.address())
      return publicUrl()
    },
    async drain() {
      isStopping = true
      const closed = server.close()
      const reason = new Fault('unavailable', 'unavailable', 'The service is stopping.', { retryAfterSeconds: 5 })
      const cancel = clock.after(drainMs, () => inFlight.abortAll(reason))
      await closed
      cancel()
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function addressOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') return ''
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
