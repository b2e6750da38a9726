import { hostname } from 'node:os'
import type { Environment } from '../config/config.ts'
import type { SystemParts } from '../http/admin/parts.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { ServedModels } from './models.ts'
import { createUpstreamWatch } from './upstream-watch.ts'

type Sources = { readonly served: ServedModels; readonly env: Environment; readonly nodeId: string }

/** What administrators see of the installation. */
export const createSystem = (infrastructure: Infrastructure, { served, env, nodeId }: Sources): SystemParts => ({
  listServedModels: served.listServed,
  upstreams: createUpstreamWatch(infrastructure, { ...served, env }),
  node: { id: nodeId, host: hostname() },
  isSystemVisible: infrastructure.config.administration.system_visible,
})
