import type { Config } from '../config/config.ts'
import type { Catalogue } from '../domain/inference/catalogue.ts'
import type { ModelDirectory } from '../domain/inference/model-directory.ts'
import { createAdministrationLimits } from '../domain/identity/administration-limits.ts'
import { adminFamily } from '../http/admin/family.ts'
import { playgroundRoute } from '../http/admin/playground/route.ts'
import type { AdminParts, SystemParts } from '../http/admin/parts.ts'
import { consoleFamily } from '../http/console/family.ts'
import type { OidcParts } from '../http/console/oidc.ts'
import type { ConsolePageParts } from '../http/console/pages.ts'
import type { SignInParts } from '../http/console/sign-in.ts'
import { chatFamily } from '../http/chat/routes.ts'
import { embeddingsFamily, type EmbeddingsParts } from '../http/embeddings/routes.ts'
import { creditsFamily } from '../http/credits/family.ts'
import type { CreditRouteParts } from '../http/credits/routes.ts'
import type { CountEndpointParts } from '../http/inference/count.ts'
import { createDefaultErrors, GeneralErrorBody } from '../http/default-errors.ts'
import { messagesFamily } from '../http/messages/routes.ts'
import { modelRoutes } from '../http/models/routes.ts'
import { moderationsFamily, type ModerationParts } from '../http/moderations/routes.ts'
import { policyGatewayFamily } from '../http/policy-gateway/family.ts'
import type { GatewayParts } from '../http/policy-gateway/parts.ts'
import type { StoreResponseParts } from '../http/responses/store-response.ts'
import { responsesFamily } from '../http/responses/routes.ts'
import { docsRoutes } from '../http/docs/routes.ts'
import type { EndpointFamily } from '../http/route.ts'
import { healthRoutes, type ReadinessCheck } from '../http/service/health.ts'
import { metricsRoutes } from '../http/service/metrics.ts'
import { openapiRoutes } from '../http/service/openapi.ts'
import { createPlaygroundFormats } from './caller-formats.ts'
import type { Purpose } from './listen-addresses.ts'

export type FamilyParts = EmbeddingsParts &
  CountEndpointParts &
  StoreResponseParts &
  CreditRouteParts &
  ModerationParts &
  SystemParts & {
    readonly catalogue: Catalogue
    readonly modelDirectory: ModelDirectory
    /** The metrics of this server, in the Prometheus text format. */
    readonly readMetrics: () => Promise<string>
    readonly administration: Pick<
      AdminParts,
      | 'reads'
      | 'mutate'
      | 'policies'
      | 'backtests'
      | 'directory'
      | 'keyChanges'
      | 'members'
      | 'audit'
      | 'verifications'
      | 'keyDefaults'
      | 'ids'
      | 'balances'
      | 'administratorsManageCredits'
    > &
      Pick<GatewayParts, 'reads' | 'mutate' | 'exports' | 'sinkKinds' | 'configurations'>
    readonly testSink: GatewayParts['testSink']
    readonly simulate: GatewayParts['simulate']
    readonly inspectRule: AdminParts['inspectRule']
    readonly findEvidence: AdminParts['findEvidence']
    readonly decodeBody: AdminParts['decodeBody']
    readonly preflight: AdminParts['preflight']
    readonly reports: AdminParts['reports']
    readonly administrationLimits: Config['administration']
    readonly publicUrl: () => string
    /** `server.public_url`. */
    readonly configuredUrl: string | undefined
    /** Undefined if the console is off. */
    readonly console: (SignInParts & ConsolePageParts & { readonly oidc: OidcParts | undefined }) | undefined
    readonly features: AdminParts['features']
    readonly isShuttingDown: AdminParts['isShuttingDown']
    readonly version: string
    readonly readiness: readonly ReadinessCheck[]
  }

/** The endpoint families of a port. The first one encodes errors of paths that belong to no family. */
export function createFamilies(
  parts: FamilyParts,
  purposes: ReadonlySet<Purpose>,
): [EndpointFamily, ...EndpointFamily[]] {
  const encodeError = createDefaultErrors(parts.publicUrl)
  const general = (family: Pick<EndpointFamily, 'name' | 'description' | 'prefixes' | 'routes'>): EndpointFamily => ({
    ...family,
    encodeError,
    errorSchema: GeneralErrorBody,
  })
  const limits = limitsOf(parts)
  const ifServed = <Part>(purpose: Purpose, make: () => Part[]): Part[] => (purposes.has(purpose) ? make() : [])
  // The configured address leads to the API, so the pages of another port print the address that they were requested at.
  const docsUrl = purposes.has('api') ? parts.configuredUrl?.replace(/\/+$/, '') : undefined
  const inferenceUrl = (): string | null => (purposes.has('api') ? (docsUrl ?? null) : parts.publicUrl())
  const isDescribed = purposes.has('api') || purposes.has('administration')
  const { console: consoleParts } = parts
  const hasConsole = consoleParts !== undefined && purposes.has('administration')
  const families: [EndpointFamily, ...EndpointFamily[]] = [
    general({
      name: 'Service',
      description: 'Health, metrics and the reference.',
      prefixes: ['/'],
      routes: [
        ...healthRoutes(parts.readiness, hasConsole),
        ...ifServed('metrics', () => metricsRoutes(parts.readMetrics)),
        ...(isDescribed ? docsRoutes({ families: () => families, publicUrl: docsUrl }) : []),
        ...(isDescribed ? openapiRoutes(() => families, { version: parts.version, url: docsUrl }) : []),
      ],
    }),
    ...ifServed('api', () => [
      messagesFamily(parts),
      responsesFamily(parts),
      chatFamily(parts),
      embeddingsFamily(parts),
      moderationsFamily(parts),
    ]),
    ...ifServed('administration', () => [
      adminFamily({ ...parts, ...parts.administration, limits, inferenceUrl }, [
        playgroundRoute({ ...parts, ...parts.administration, limits, formats: createPlaygroundFormats(parts) }),
      ]),
      policyGatewayFamily({ ...parts, ...parts.administration, limits }),
      ...(consoleParts === undefined ? [] : [consoleFamily({ ...parts, ...consoleParts })]),
    ]),
    ...ifServed('api', () => [
      general({
        name: 'Models',
        description: 'The models that a key may use.',
        prefixes: ['/v1/models'],
        routes: modelRoutes(parts),
      }),
      creditsFamily(parts, encodeError),
    ]),
  ]
  return families
}

function limitsOf({ clock, administrationLimits }: FamilyParts): AdminParts['limits'] {
  const { credential, console: sessions, organization } = administrationLimits
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
