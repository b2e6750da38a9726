import type { Environment } from '../../config/config.ts'
import { effectiveSettings } from '../../config/effective-settings.ts'
import { originsOf } from '../../config/origins.ts'
import type { SystemFinding } from '../../domain/system/system.ts'
import type { ReadinessCheck } from '../../http/service/health.ts'
import { checks } from './checks.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Counters } from '../limit-counters.ts'
import type { ServedModels } from '../upstreams/models.ts'
import type { InstallationParts } from '../installation-parts.ts'
import { createStorageStatus } from '../storage/storage-status.ts'
import { createOwnUpstreams } from '../upstreams/own-upstreams.ts'
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
  const upstreams = createUpstreamWatch(infrastructure, {
    ...served,
    env,
    open: createOwnUpstreams({ ...served, clock, config }),
  })
  const findings = async (): Promise<SystemFinding[]> => {
    const context = { config, readiness, upstreams, metrics: await readMetrics(), nowMs: clock.nowMs() }
    const results = checks.map(async ({ system }) => (await system?.(context)) ?? [])
    return (await Promise.all(results)).flat()
  }
  return {
    listServedModels: served.listServed,
    upstreams,
    entries: served.entries,
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
      findings: await findings(),
    }),
  }
}
