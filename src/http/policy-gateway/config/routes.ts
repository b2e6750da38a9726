import type { Static } from 'typebox'
import type { GivenConfiguration } from '../../../domain/gateway-config/complete.ts'
import { unsaved, type SavedConfiguration } from '../../../domain/gateway-config/configuration.ts'
import { timeOfIfMatch, timeTag } from '../../resources/if-match.ts'
import { gatewayResourceId } from '../../resources/managed-by.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import { none } from '../../resources/fields.ts'
import { warningHeader } from '../../gateway-headers.ts'
import type { Route, RouteAnswer } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { GatewayRoutes } from '../routes.ts'
import * as Schema from './schema.ts'
import type { ConfigurationVersion } from '../../../domain/gateway-config/store.ts'
import type { ConfigurationGateStores } from '../../../domain/gate/configuration-gate.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import type { GatewayGateRouteParts } from './gate-routes.ts'

const path = '/api/policy-gateway/config'
const bodyLimitBytes = 1024 * 1024
const answer = { description: 'The configuration.', schema: Schema.SavedAnswer }
const savedAnswer: RouteAnswer = {
  description: 'The configuration. The header `x-gatehouse-warning` has the codes of its warnings.',
  schema: Schema.SavedAnswer,
  headers: ['x-gatehouse-warning'],
}

/** `/api/policy-gateway/config`: the gateway configuration of the organization. */
export function configRoutes(
  routes: GatewayRoutes<ConfigurationGateStores>,
  { configurations, gate, runCandidateCases }: GatewayGateRouteParts,
): Route[] {
  const { read, mutation } = routes
  const presented = (saved: SavedConfiguration) => ({
    ...presentSaved(saved),
    warnings: [...configurations.warningsOf(saved.config)],
  })
  const save = ({ name, method, summary }: Pick<Route, 'name' | 'summary'> & { method: 'PUT' | 'POST' }): Route =>
    mutation({
      name,
      method,
      path,
      summary,
      description:
        'Replaces the whole configuration: fields that are left out are reset to their defaults. The body is the configuration, or `{"config": …}`. It applies to every request that starts after the response. Saving an equal configuration changes nothing. Responds with 409 `gate_not_passed` or `gate_stale` if the publish gate requires more. A configuration that was saved before, and a rollout to fewer requests, need no gate.',
      permission: 'gateway:write',
      params: none,
      query: none,
      body: Schema.SaveBody,
      bodyLimitBytes,
      takesIfMatch: true,
      answer: savedAnswer,
      prepare: async (reads, { actor, body }) =>
        body.gate_run === undefined
          ? runCandidateCases(reads, actor, configurations.check(...givenIn(body)))
          : undefined,
      async operation(stores, { actor, body, ifMatch, prepared }) {
        const seenAtMs = timeOfIfMatch(ifMatch)
        const { gate_run: runId, override } = body
        if (override) requirePermission(actor.permissions, 'policies:override')
        const config = configurations.check(...givenIn(body))
        const organizationId = actor.organization.id
        const outcome = prepared ?? { cases: [], results: [] }
        return gate.save(stores, {
          organizationId,
          config,
          by: actor.id,
          outcome,
          runId,
          overrideReason: override?.reason,
          seenAtMs,
        })
      },
      managed: () => ({ id: gatewayResourceId, kind: 'gateway.config.updated' }),
      present: presented,
      headers: ({ config }) => warningHeader(configurations.warningsOf(config)),
      tag: (saved) => savedTag(presentSaved(saved)),
    })

  return [
    read({
      name: 'getGatewayConfig',
      isManaged: true,
      path,
      summary: 'Read the gateway configuration',
      description: 'Returns every field, with defaults if nothing was saved.',
      permission: 'gateway:read',
      params: none,
      query: none,
      answer,
      tag: savedTag,
      operation: async ({ gateway }, { actor }) => presented((await gateway.find(actor.organization.id)) ?? unsaved),
    }),
    save({ name: 'saveGatewayConfig', method: 'PUT', summary: 'Save the gateway configuration' }),
    save({
      name: 'saveGatewayConfigByPost',
      method: 'POST',
      summary: 'Save the gateway configuration, for clients that cannot PUT',
    }),
    routes.query({
      name: 'previewGatewayConfig',
      path: `${path}/preview`,
      summary: 'Preview a gateway configuration',
      description: 'Returns the configuration as a save would store it, and saves nothing. The body is as for a save.',
      permission: 'gateway:read',
      params: none,
      body: Schema.SaveBody,
      bodyLimitBytes,
      answer: { description: 'The configuration with all defaults.', schema: Schema.PreviewAnswer },
      operation: async (_reads, { body }) => configurations.check(...givenIn(body)),
    }),
    read({
      name: 'listGatewayConfigVersions',
      path: `${path}/versions`,
      summary: 'List all gateway configurations that were saved',
      permission: 'gateway:read',
      params: none,
      query: Schema.VersionQuery,
      answer: { description: 'A page of configurations.', schema: Schema.VersionList },
      operation: async ({ gateway }, { actor, query }) =>
        presentList(await gateway.listVersions(actor.organization.id, pageOf(query)), presentConfigVersion),
    }),
  ]
}

/** The configuration, and the prefix of its fields in the body. */
function givenIn({
  config,
  gate_run: _run,
  override: _override,
  ...own
}: Static<typeof Schema.SaveBody>): [given: GivenConfiguration, paramPrefix: string] {
  if (config === undefined) return [own, '']
  const [extra] = Object.keys(own)
  if (extra !== undefined) throw invalidField([extra], 'must be inside config, because the body has one')
  return [config, 'config.']
}

const presentSaved = ({ config, version, isRolledBack, createdAtMs, updatedAtMs }: SavedConfiguration) => ({
  config,
  version,
  rolled_back: isRolledBack,
  created_at: isoOrNull(createdAtMs),
  updated_at: isoOrNull(updatedAtMs),
})

const savedTag = ({ updated_at: time, rolled_back: isRolledBack }: ReturnType<typeof presentSaved>): string =>
  timeTag(time, isRolledBack ? 'rolled_back' : '')

const presentConfigVersion = ({ id, version, config, createdAtMs, createdBy }: ConfigurationVersion) => ({
  id,
  object: 'policy_gateway.config_version',
  version,
  config,
  created_at: isoOrNull(createdAtMs),
  created_by: createdBy,
})

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
