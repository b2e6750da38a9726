import type { Clock } from '../base/clock.ts'
import type { FairSemaphore } from '../base/fair-semaphore.ts'
import type { Config } from '../config/config.ts'
import { createAdministrationLimits } from '../domain/identity/administration-limits.ts'
import type { DirectoryStore } from '../domain/identity/store.ts'
import { adminFamily } from '../http/admin/family.ts'
import { playgroundRoute } from '../http/admin/playground/route.ts'
import { consoleFamily, type ConsoleParts } from '../http/console/family.ts'
import { createDefaultErrors, GeneralErrorBody } from '../http/default-errors.ts'
import { policyGatewayFamily } from '../http/policy-gateway/family.ts'
import { docsRoutes } from '../http/docs/routes.ts'
import type { EndpointFamily, Route } from '../http/route.ts'
import { healthRoutes, type ReadinessCheck } from '../http/service/health.ts'
import { metricsRoutes } from '../http/service/metrics.ts'
import { openapiRoutes } from '../http/service/openapi.ts'
import { createPlaygroundFormats } from './caller-formats.ts'
import type { Feature } from './features/feature.ts'
import { billingFamilies, inferenceFamilies, type InferenceFamilyParts } from './inference-families.ts'
import { portName, type Purpose } from './listen-addresses.ts'

export type FamilyParts = {
  /** What the endpoints for applications need. */
  readonly inference: InferenceFamilyParts
  readonly features: readonly Feature[]
  readonly administration: AdministrationParts
  readonly service: ServiceParts
  /** Undefined if the console is off. */
  readonly console: Omit<ConsoleParts, 'publicUrl'> | undefined
  readonly publicUrl: () => string
  /** `server.public_url`. */
  readonly configuredUrl: string | undefined
}

type AdministrationParts = {
  readonly limits: Config['administration']
  /** Reports that run at once, by organization. */
  readonly reports: FairSemaphore
  readonly isShuttingDown: () => boolean
  /** For requests that an administrator sends as a caller of a project. */
  readonly directory: DirectoryStore
}

type ServiceParts = {
  readonly version: string
  readonly readiness: readonly ReadinessCheck[]
  /** The metrics of this server, in the Prometheus text format. */
  readonly readMetrics: () => Promise<string>
  /** What `scripts/build-docs.mjs` writes. */
  readonly docsFolder: URL
}

/** The endpoint families of a port. The first one encodes errors of paths that belong to no family. */
export function createFamilies(
  parts: FamilyParts,
  purposes: ReadonlySet<Purpose>,
): [EndpointFamily, ...EndpointFamily[]] {
  const { inference, service, console, publicUrl } = parts
  const encodeError = createDefaultErrors(publicUrl)
  const ifServed = <Part>(purpose: Purpose, make: () => Part[]): Part[] => (purposes.has(purpose) ? make() : [])
  // The configured address leads to the API, so the pages of another port print the address that they were requested at.
  const docsUrl = purposes.has('api') ? parts.configuredUrl?.replace(/\/+$/, '') : undefined
  const inferenceUrl = (): string | null => (purposes.has('api') ? (docsUrl ?? null) : publicUrl())
  const isDescribed = purposes.has('api') || purposes.has('administration')
  const hasConsole = console !== undefined && purposes.has('administration')
  const families: [EndpointFamily, ...EndpointFamily[]] = [
    {
      name: 'Service',
      description: 'Health, metrics and the reference.',
      prefixes: ['/'],
      routes: [
        ...healthRoutes(service.readiness, hasConsole),
        ...ifServed('metrics', () => metricsRoutes(service.readMetrics)),
        ...(isDescribed
          ? docsRoutes({ folder: service.docsFolder, port: portName(purposes), publicUrl: docsUrl })
          : []),
        ...(isDescribed ? openapiRoutes(() => families, { version: service.version, url: docsUrl }) : []),
      ],
      encodeError,
      errorSchema: GeneralErrorBody,
    },
    ...ifServed('api', () => inferenceFamilies(inference)),
    ...ifServed('administration', () => [
      ...administrationFamilies(parts, inferenceUrl),
      ...(console === undefined ? [] : [consoleFamily({ ...console, publicUrl })]),
    ]),
    ...ifServed('api', () => billingFamilies(inference, encodeError, decisionAppealRoutes(parts))),
  ]
  return families
}

/** Administration and the policy gateway. The requests of both count against the same limits. */
function administrationFamilies(
  { inference, features, administration, publicUrl }: FamilyParts,
  inferenceUrl: () => string | null,
): EndpointFamily[] {
  const { callerOf, clock } = inference
  const { reports, isShuttingDown, directory } = administration
  const shared = { limits: limitsOf(administration.limits, clock), clock, reports, isShuttingDown }
  const authenticate = callerOf.administrator
  const surface = { ...shared, authenticate, credential: 'admin_key', inferenceUrl } as const
  const gatewaySurface = { ...shared, authenticate: callerOf.manager, credential: 'gateway' } as const
  const formats = createPlaygroundFormats(inference)
  const playground = playgroundRoute({ ...inference, ...surface, directory, formats })
  const routes = features.flatMap((feature) => feature.administration?.(surface) ?? [])
  return [
    adminFamily([...routes, playground], publicUrl),
    policyGatewayFamily(
      features.flatMap((feature) => feature.policyGateway?.(gatewaySurface) ?? []),
      publicUrl,
    ),
  ]
}

/** Appeals of keys count against the limits of administration, because each is a mutation. */
function decisionAppealRoutes({ inference: { callerOf, clock }, features, administration }: FamilyParts): Route[] {
  const { reports, isShuttingDown } = administration
  const shared = { limits: limitsOf(administration.limits, clock), clock, reports, isShuttingDown }
  const surface = { ...shared, authenticate: callerOf.principal, credential: 'api_key' } as const
  return features.flatMap((feature) => feature.decisions?.(surface) ?? [])
}

function limitsOf(settings: Config['administration'], clock: Clock) {
  const { credential, console: sessions, organization } = settings
  const limitOf = ({ requests_per_minute, concurrent_requests }: typeof credential) => ({
    requestsPerMinute: requests_per_minute,
    concurrentRequests: concurrent_requests,
  })
  return createAdministrationLimits(clock, {
    credential: limitOf(credential),
    console: limitOf(sessions),
    organization: limitOf(organization),
  })
}
