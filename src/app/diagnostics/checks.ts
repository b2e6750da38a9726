import type { Config, Environment } from '../../config/config.ts'
import type { Upstreams } from '../../domain/inference/upstream-status.ts'
import type { ReadinessCheck } from '../../http/service/health.ts'
import type { Diagnosis } from './diagnosis.ts'
import { diagnoseJobs } from './jobs.ts'
import { checkModeration } from './moderation.ts'
import { checkRedis, checkRuntime, checkTls } from './node.ts'
import { checkOidc } from './oidc.ts'
import { checkPorts, checkServer } from './server.ts'
import { checkSpools } from './spools.ts'
import { checkFolder, checkStorage } from './storage.ts'
import { checkTokens } from './tokens.ts'
import { checkTraces } from './traces.ts'
import { upstreamStates } from './upstream-states.ts'
import { checkUpstreams, type UpstreamCheckOptions } from './upstreams.ts'
import { checkWorkers } from './workers.ts'

type CommonContext = {
  readonly config: Config
  readonly nowMs: number
  /** The metrics of the running server; undefined if none runs. */
  readonly metrics: string | undefined
}

export type DoctorContext = CommonContext & { readonly env: Environment; readonly options: UpstreamCheckOptions }

export type SystemContext = CommonContext & {
  readonly readiness: readonly ReadinessCheck[]
  readonly upstreams: Pick<Upstreams, 'list'>
}

type Run<Context> = (context: Context) => readonly Diagnosis[] | Promise<readonly Diagnosis[]>

/** `doctor`: by a command, also without a server. `system`: by a running server, for the API and the console. */
type Check = { readonly doctor?: Run<DoctorContext>; readonly system?: Run<SystemContext> }

const inBoth = (run: Run<CommonContext>): Check => ({ doctor: run, system: run })

/** Every check of an installation, in the order in which its results are shown. */
export const checks: readonly Check[] = [
  inBoth(() => [checkRuntime()]),
  { doctor: ({ config }) => checkStored(config) },
  { doctor: ({ config }) => checkSpools(config) },
  { system: ({ readiness }) => Promise.all(readiness.map(diagnosisOf)) },
  inBoth(({ config }) => checkRedis(config)),
  { doctor: ({ config }) => checkServer(config) },
  { doctor: ({ config }) => checkPorts(config.server) },
  { doctor: ({ config, metrics }) => checkWorkers(config, metrics) },
  inBoth(({ config }) => checkTls(config.server)),
  { doctor: ({ config, options }) => checkTokens(config, options) },
  { doctor: ({ config, options }) => checkOidc(config, options) },
  // A command calls the upstreams. A server knows how its last calls ended.
  {
    doctor: ({ config, env, options }) => checkUpstreams(config, env, options),
    system: ({ upstreams }) => upstreamStates(upstreams),
  },
  { doctor: ({ config, options }) => checkTraces(config, options) },
  { doctor: async ({ config }) => [await checkModeration(config)] },
  inBoth(({ config, metrics, nowMs }) => diagnoseJobs(config, metrics, nowMs)),
]

/** The database cannot be opened in a folder that cannot be written. */
async function checkStored(config: Config): Promise<Diagnosis[]> {
  const folder = checkFolder(config)
  return folder.some(({ state }) => state === 'wrong') ? folder : [...folder, ...(await checkStorage(config))]
}

/** What decides whether a server is ready is also shown with the other results. */
async function diagnosisOf({ part, problem, isVital = () => true }: ReadinessCheck): Promise<Diagnosis> {
  const message = await problem()
  if (message === undefined) return { part, state: 'ok', message: 'it works' }
  return { part, state: isVital() ? 'wrong' : 'warning', message }
}
