import { createDefaultErrors, GeneralErrorBody } from '../default-errors.ts'
import { createResourceRoutes } from '../resources/route.ts'
import type { EndpointFamily } from '../route.ts'
import { configRoutes } from './config/routes.ts'
import { deadLetterRoutes } from './exports/dead-letter-routes.ts'
import { exportRoutes } from './exports/routes.ts'
import { exportTestRoute } from './exports/test-route.ts'
import { historyRoutes } from './history/routes.ts'
import type { GatewayParts } from './parts.ts'
import { simulateRoute } from './simulate/route.ts'

/** `/api/policy-gateway/*`: for API keys, tokens and administrator keys. */
export function policyGatewayFamily(parts: GatewayParts & { readonly publicUrl: () => string }): EndpointFamily {
  const routes = createResourceRoutes({ ...parts, authenticate: parts.callerOf.manager, credential: 'gateway' })
  return {
    name: 'Policy gateway',
    description: 'The gateway configuration, its simulation, its decisions, and the export of audit events.',
    prefixes: ['/api/policy-gateway'],
    routes: [
      ...configRoutes(routes, parts),
      simulateRoute(routes, parts),
      ...exportRoutes(routes, parts),
      exportTestRoute(parts),
      ...deadLetterRoutes(routes, parts),
      ...historyRoutes(routes),
    ],
    encodeError: createDefaultErrors(parts.publicUrl),
    errorSchema: GeneralErrorBody,
  }
}
