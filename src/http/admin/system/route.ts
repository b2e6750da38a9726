import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { ReadSystem, SystemReport } from '../../../domain/system/system.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { requireSystemAccess, type NodeIdentity, type SystemVisibility } from './authority.ts'
import { SystemObject } from './schema.ts'

type SystemRouteParts = SystemVisibility & {
  readonly node: NodeIdentity
  readonly readSystem: ReadSystem
  readonly version: string
}

/** `/v1/organization/system`: nodes, effective settings with their origin, and what this node found about itself. */
export function systemRoute({ read }: AdminReads<object>, parts: SystemRouteParts): Route {
  return read({
    name: 'getSystem',
    path: '/v1/organization/system',
    summary: 'Read the state and the settings of the installation',
    description:
      'The nodes, the storage engine, the effective configuration with the origin of each value and without secrets, and what this node found when it checked itself. It belongs to the installation, not to the organization: where `administration.system_visible` is false, only the operator may read it.',
    permission: 'system:read',
    params: none,
    query: none,
    answer: { description: 'The installation, as the node that answers sees it.', schema: SystemObject },
    async operation(_, { actor }) {
      requireSystemAccess(actor, parts)
      return present(await parts.readSystem(), parts)
    },
  })
}

const present = (report: SystemReport, { node, version }: SystemRouteParts): Static<typeof SystemObject> => ({
  object: 'organization.system',
  version,
  runtime: report.runtime,
  node: { ...node, started_at: toUnixSeconds(report.startedAtMs) },
  nodes: { count: report.nodeIds.length, ids: [...report.nodeIds] },
  storage: report.storage,
  limits: report.limits,
  configuration_file: report.configurationFile,
  settings: report.settings.map(({ isHidden, isReloaded, value, ...setting }) => ({
    ...setting,
    value: Array.isArray(value) ? [...value] : (value as string | number | boolean | null),
    is_hidden: isHidden,
    is_reloaded: isReloaded,
  })),
  findings: report.findings.map(({ part, state, message, fix = null }) => ({ part, state, message, fix })),
})
