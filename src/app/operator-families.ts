import type { Clock } from '../base/clock.ts'
import { messageOf, type Fault } from '../base/fault.ts'
import type { Random } from '../base/random.ts'
import { isRecord } from '../base/record.ts'
import { createAdministrationLimits } from '../domain/identity/administration-limits.ts'
import { adminFamily } from '../http/admin/family.ts'
import { adminOperatorRoutes } from '../http/admin/operator-routes.ts'
import type { AdminParts, SystemParts } from '../http/admin/parts.ts'
import type { CallerOf } from '../http/caller.ts'
import { createDefaultErrors, GeneralErrorBody } from '../http/default-errors.ts'
import { operatorFamily } from '../http/operator/family.ts'
import { serverRoute } from '../http/operator/server.ts'
import { storageRoute } from '../http/operator/storage.ts'
import { policyGatewayFamily } from '../http/policy-gateway/family.ts'
import type { GatewayParts } from '../http/policy-gateway/parts.ts'
import type { StorageStatus } from '../domain/system/storage-status.ts'
import { createResourceRoutes } from '../http/resources/route.ts'
import type { EndpointFamily } from '../http/route.ts'
import { healthRoutes, type ReadinessCheck } from '../http/service/health.ts'
import { metricsRoutes } from '../http/service/metrics.ts'
import { openapiRoutes } from '../http/service/openapi.ts'
import packageFile from '../../package.json' with { type: 'json' }
import type { Administration } from './administration.ts'

export type OperatorFamilyParts = SystemParts & {
  readonly administration: Administration
  readonly callerOf: CallerOf
  readonly clock: Clock
  readonly publicUrl: () => string
  readonly readiness: readonly ReadinessCheck[]
  readonly readMetrics: () => Promise<string>
  readonly reports: AdminParts['reports']
  readonly preflight: AdminParts['preflight']
  readonly catalogue: AdminParts['catalogue']
  readonly simulate: GatewayParts['simulate']
  readonly inspectRule: AdminParts['inspectRule']
  readonly findEvidence: AdminParts['findEvidence']
  readonly decodeBody: AdminParts['decodeBody']
  readonly testSink: GatewayParts['testSink']
  readonly features: AdminParts['features']
  readonly version: string
  readonly readStorage: () => Promise<StorageStatus>
  readonly inFlight: AdminParts['inFlight']
  readonly isShuttingDown: AdminParts['isShuttingDown']
  readonly random: Random
  readonly consoleUrl: (() => string) | undefined
}

/** The limits protect the service from callers, not from its operator. */
const unlimited = { requestsPerMinute: Infinity, concurrentRequests: Infinity }

/** The endpoint families of the control socket: administration as on the network, and the operator's own. */
export function createOperatorFamilies(own: OperatorFamilyParts): [EndpointFamily, ...EndpointFamily[]] {
  const limits = createAdministrationLimits(own.clock, { credential: unlimited, organization: unlimited })
  const parts = { ...own, ...own.administration, limits, inferenceUrl: () => own.publicUrl() || null }
  const routes = createResourceRoutes({ ...parts, authenticate: own.callerOf.administrator, credential: 'operator' })
  const families: [EndpointFamily, ...EndpointFamily[]] = [
    {
      name: 'Service',
      description: 'Health, and this description.',
      prefixes: ['/'],
      routes: [
        ...healthRoutes(own.readiness),
        ...metricsRoutes(own.readMetrics),
        ...openapiRoutes(() => families, { version: packageFile.version, url: undefined }),
      ],
      encodeError: withCause(createDefaultErrors(own.publicUrl)),
      errorSchema: GeneralErrorBody,
    },
    ...[
      adminFamily(parts),
      policyGatewayFamily(parts),
      operatorFamily(parts, [...adminOperatorRoutes(routes, parts), serverRoute(parts), storageRoute(own)]),
    ].map((family) => ({ ...family, encodeError: withCause(family.encodeError) })),
  ]
  return families
}

/** The operator also sees the cause of an internal error, which other callers find only in the log. */
const withCause =
  (encodeError: EndpointFamily['encodeError']): EndpointFamily['encodeError'] =>
  (fault: Fault, requestId, path) => {
    const response = encodeError(fault, requestId, path)
    const { body } = response
    if (fault.kind !== 'internal' || fault.cause === undefined) return response
    if (!isRecord(body) || !isRecord(body['error'])) return response
    return { ...response, body: { ...body, error: { ...body['error'], cause: messageOf(fault.cause) } } }
  }
