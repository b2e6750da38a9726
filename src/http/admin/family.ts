import { createPace } from '../../base/pace.ts'
import { createDefaultErrors, GeneralErrorBody } from '../default-errors.ts'
import { createResourceRoutes } from '../resources/route.ts'
import type { EndpointFamily, Route } from '../route.ts'
import { adminKeyRoutes } from './admin-keys/routes.ts'
import { apiKeyRoutes } from './api-keys/routes.ts'
import { auditExportRoute } from './audit-logs/export.ts'
import { auditLogRoutes } from './audit-logs/routes.ts'
import { archiveRoutes } from './audit-logs/archive-routes.ts'
import { verificationRoutes } from './audit-logs/verification-routes.ts'
import { balanceRoutes } from './credits/balance-routes.ts'
import { ledgerRoutes } from './credits/routes.ts'
import { overrideRoutes } from './limits/override-routes.ts'
import { evaluateRoute } from './evaluate/route.ts'
import { limitRoutes } from './limits/routes.ts'
import { catalogueRoute } from './models/routes.ts'
import { memberRoutes } from './members/routes.ts'
import { applyLeaseRoutes } from './organization/apply-lease-routes.ts'
import { organizationRoutes } from './organization/routes.ts'
import { overviewRoute } from './overview/route.ts'
import { overviewStreamRoute } from './overview/stream.ts'
import type { AdminParts } from './parts.ts'
import { backtestRoutes } from './policies/backtest-routes.ts'
import { ruleCheckRoute } from './policies/check-route.ts'
import { decisionRoutes } from './policies/decision-routes.ts'
import { publicationRoutes, versionRoutes } from './policies/publication-routes.ts'
import { policyPreviewRoute } from './policies/preview-route.ts'
import { policyRoutes } from './policies/routes.ts'
import { projectRoutes } from './projects/routes.ts'
import { requestExportRoute } from './requests/export.ts'
import { requestRoutes } from './requests/routes.ts'
import { requestStreamRoute } from './requests/stream.ts'
import { signInListRoutes } from './sign-ins/routes.ts'
import { systemRoute } from './system/route.ts'
import { trafficRoute } from './traffic/routes.ts'
import { upstreamRoutes } from './upstreams/routes.ts'
import { usageRoutes } from './usage/routes.ts'

/** `/v1/organization/*`: the administration API. `networkRoutes` are not served on the control socket. */
export function adminFamily(
  parts: AdminParts & { readonly publicUrl: () => string },
  networkRoutes: readonly Route[] = [],
): EndpointFamily {
  const routes = createResourceRoutes({ ...parts, authenticate: parts.callerOf.administrator, credential: 'admin_key' })
  const paced = { ...parts, pace: createPace(parts.clock) }
  return {
    name: 'Administration',
    description: 'Policies, keys, members, projects, limits, usage, credits and the audit log of an organization.',
    prefixes: ['/v1/organization'],
    routes: [
      ...organizationRoutes(routes, parts),
      ...applyLeaseRoutes(routes, parts),
      ...policyRoutes(routes, parts),
      ruleCheckRoute(routes, parts),
      policyPreviewRoute(routes, parts),
      ...publicationRoutes(routes, parts),
      ...versionRoutes(routes),
      ...backtestRoutes(routes, parts),
      ...decisionRoutes(routes, parts),
      evaluateRoute(routes, parts),
      ...adminKeyRoutes(routes, parts),
      ...projectRoutes(routes, parts),
      ...apiKeyRoutes(routes, parts),
      catalogueRoute(routes, parts),
      ...memberRoutes(routes, parts),
      ...signInListRoutes(routes, parts),
      ...upstreamRoutes(routes, parts),
      systemRoute(routes, parts),
      overviewRoute(routes, parts),
      overviewStreamRoute(parts),
      trafficRoute(routes, parts),
      ...requestRoutes(routes, parts),
      requestStreamRoute(parts),
      requestExportRoute(paced),
      ...auditLogRoutes(routes, parts),
      auditExportRoute(paced),
      ...verificationRoutes(routes, parts),
      ...archiveRoutes(routes),
      ...limitRoutes(routes, parts),
      ...usageRoutes(routes, paced),
      ...overrideRoutes(routes, parts),
      ...balanceRoutes(routes, parts),
      ...ledgerRoutes(routes),
      ...networkRoutes,
    ],
    encodeError: createDefaultErrors(parts.publicUrl),
    errorSchema: GeneralErrorBody,
  }
}
