import type { Environment } from '../../config/config.ts'
import { effectiveSettings } from '../../config/effective-settings.ts'
import { originsOf } from '../../config/origins.ts'
import type { Upstreams } from '../../domain/inference/upstream-status.ts'
import type { SystemFinding } from '../../domain/system/system.ts'
import type { InstallationParts } from '../features/feature.ts'
import type { ReadinessCheck } from '../../http/service/health.ts'
import { diagnoseJobs } from './jobs.ts'
import { checkRedis, checkRuntime, checkTls } from './node.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Counters } from '../limit-counters.ts'
import type { ServedModels } from '../upstreams/models.ts'
import { createStorageStatus } from '../storage/storage-status.ts'
import { createUpstreamWatch } from '../upstreams/upstream-watch.ts'

type Sources = {
  readonly served: ServedModels
  readonly env: Environment
  readonly counters: Pick<Counters, 'nodeIds' | 'ownEpoch' | 'description'>
  readonly readiness: readonly ReadinessCheck[]
}

/** What administrators and the operator see of the installation. */
export function createSystem(
  infrastructure: Infrastructure,
  { served, env, counters, readiness }: Sources,
): InstallationParts {
  const { clock, config, database, nodeName, readMetrics } = infrastructure
  const startedAtMs = clock.nowMs()
  const settings = effectiveSettings(config)
  const upstreams = createUpstreamWatch(infrastructure, { ...served, env })
  return {
    listServedModels: served.listServed,
    upstreams,
    node: { id: counters.ownEpoch, host: nodeName },
    readStorage: createStorageStatus(infrastructure),
    readSystem: async () => ({
      startedAtMs,
      runtime: process.versions.node,
      nodeIds: counters.nodeIds(),
      storage: database.engine === 'sqlite' ? 'embedded' : 'postgresql',
      limits: counters.description,
      configurationFile: originsOf(config).file ?? null,
      settings,
      findings: [
        checkRuntime(),
        ...(await Promise.all(readiness.map(findingOf))),
        ...(await checkRedis(config)),
        ...checkTls(config.server),
        ...upstreamFindings(upstreams),
        ...diagnoseJobs(config, await readMetrics(), clock.nowMs()),
      ],
    }),
  }
}

async function findingOf({ part, problem, isVital = () => true }: ReadinessCheck): Promise<SystemFinding> {
  const message = await problem()
  if (message === undefined) return { part, state: 'ok', message: 'it works' }
  return { part, state: isVital() ? 'wrong' : 'warning', message }
}

/** From the calls of this node. `gatehouse doctor` and a probe call an upstream instead. */
const upstreamFindings = (upstreams: Upstreams): SystemFinding[] =>
  upstreams.list().map(({ name, state, failures, lastError }) => {
    const part = `upstream ${name}`
    if (state === 'ok') return { part, state, message: 'the last call succeeded' }
    if (state === 'unknown') return { part, state: 'ok', message: 'not called since the start' }
    const message = `the last ${failures === 1 ? 'call' : `${failures} calls`} failed (${lastError?.code ?? 'unknown'})`
    return { part, state: 'warning', message, fix: `gatehouse upstreams probe ${name}` }
  })
