import packageFile from '../../package.json' with { type: 'json' }
import type { Clock } from '../base/clock.ts'
import type { FairSemaphore } from '../base/fair-semaphore.ts'
import { messageOf, type Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import { createAdministrationLimits } from '../domain/identity/administration-limits.ts'
import { adminFamily } from '../http/admin/family.ts'
import type { CallerOf } from '../http/caller.ts'
import { createDefaultErrors, GeneralErrorBody } from '../http/default-errors.ts'
import { operatorFamily } from '../http/operator/family.ts'
import { policyGatewayFamily } from '../http/policy-gateway/family.ts'
import type { EndpointFamily } from '../http/route.ts'
import { healthRoutes, type ReadinessCheck } from '../http/service/health.ts'
import { metricsRoutes } from '../http/service/metrics.ts'
import { openapiRoutes } from '../http/service/openapi.ts'
import type { Feature } from './features/feature.ts'

export type OperatorFamilyParts = {
  readonly features: readonly Feature[]
  readonly callerOf: CallerOf
  readonly clock: Clock
  readonly reports: FairSemaphore
  readonly readiness: readonly ReadinessCheck[]
  readonly readMetrics: () => Promise<string>
  readonly isShuttingDown: () => boolean
  readonly publicUrl: () => string
  readonly consoleUrl: (() => string) | undefined
}

/** The limits protect the service from callers, not from its operator. */
const unlimited = { requestsPerMinute: Infinity, concurrentRequests: Infinity }

/** The endpoint families of the control socket: administration as on the network, and the operator's own. */
export function createOperatorFamilies(parts: OperatorFamilyParts): [EndpointFamily, ...EndpointFamily[]] {
  const { features, callerOf, clock, reports, isShuttingDown, publicUrl, consoleUrl } = parts
  const limits = createAdministrationLimits(clock, { credential: unlimited, organization: unlimited })
  const shared = { limits, clock, reports, isShuttingDown, inferenceUrl: () => publicUrl() || null }
  const surface = { ...shared, authenticate: callerOf.administrator, credential: 'admin_key' } as const
  const gatewaySurface = { ...shared, authenticate: callerOf.manager, credential: 'gateway' } as const
  const operatorSurface = { ...surface, credential: 'operator', publicUrl, consoleUrl } as const
  const routesOf = {
    administration: features.flatMap((feature) => feature.administration?.(surface) ?? []),
    policyGateway: features.flatMap((feature) => feature.policyGateway?.(gatewaySurface) ?? []),
    operator: features.flatMap((feature) => feature.operator?.(operatorSurface) ?? []),
  }
  const families: [EndpointFamily, ...EndpointFamily[]] = [
    {
      name: 'Service',
      description: 'Health, and this description.',
      prefixes: ['/'],
      routes: [
        ...healthRoutes(parts.readiness),
        ...metricsRoutes(parts.readMetrics),
        ...openapiRoutes(() => families, { version: packageFile.version, url: undefined }),
      ],
      encodeError: withCause(createDefaultErrors(publicUrl)),
      errorSchema: GeneralErrorBody,
    },
    ...[
      adminFamily(routesOf.administration, publicUrl),
      policyGatewayFamily(routesOf.policyGateway, publicUrl),
      operatorFamily(routesOf.operator, publicUrl),
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
