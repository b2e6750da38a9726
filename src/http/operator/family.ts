import { createDefaultErrors, GeneralErrorBody } from '../default-errors.ts'
import type { EndpointFamily, Route } from '../route.ts'

/**
 * `/operator/*`: what only the operator may do. It is served on the control socket and never on a network port.
 * `/operator/organization/*` is about the organization that `x-gatehouse-organization` names.
 */
export const operatorFamily = (routes: readonly Route[], publicUrl: () => string): EndpointFamily => ({
  name: 'Operator',
  description: 'What only the operator of the installation may do, on the control socket.',
  prefixes: ['/operator'],
  routes,
  encodeError: createDefaultErrors(publicUrl),
  errorSchema: GeneralErrorBody,
})
