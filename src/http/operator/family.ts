import { createDefaultErrors, GeneralErrorBody } from '../default-errors.ts'
import { createResourceRoutes } from '../resources/route.ts'
import type { EndpointFamily, Route } from '../route.ts'
import { auditLogOperatorRoutes } from './audit-log.ts'
import { consoleLinkRoute } from './console-link.ts'
import { ledgerRoutes } from './ledger.ts'
import { organizationRoutes } from './organizations.ts'
import type { OperatorParts } from './parts.ts'
import { secretRoutes } from './secret.ts'

/**
 * `/operator/*`: what only the operator may do. It is served on the control socket and never on a network port.
 * `/operator/organization/*` is about the organization that `x-gatehouse-organization` names. `others` are routes about
 * objects of other families, which define them next to the representation of these objects.
 */
export function operatorFamily(
  parts: OperatorParts & { readonly publicUrl: () => string },
  others: readonly Route[],
): EndpointFamily {
  const routes = createResourceRoutes({ ...parts, authenticate: parts.callerOf.administrator, credential: 'operator' })
  return {
    name: 'Operator',
    description: 'What only the operator of the installation may do, on the control socket.',
    prefixes: ['/operator'],
    routes: [
      ...organizationRoutes(parts),
      ...ledgerRoutes(parts),
      ...secretRoutes(parts),
      ...auditLogOperatorRoutes(routes, parts),
      consoleLinkRoute(routes, parts),
      ...others,
    ],
    encodeError: createDefaultErrors(parts.publicUrl),
    errorSchema: GeneralErrorBody,
  }
}
