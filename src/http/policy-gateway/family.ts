import { createDefaultErrors, GeneralErrorBody } from '../default-errors.ts'
import type { EndpointFamily, Route } from '../route.ts'

/** `/api/policy-gateway/*`: for API keys, tokens and administrator keys. */
export const policyGatewayFamily = (routes: readonly Route[], publicUrl: () => string): EndpointFamily => ({
  name: 'Policy gateway',
  description: 'The gateway configuration, its simulation, its decisions, and the export of audit events.',
  prefixes: ['/api/policy-gateway'],
  routes,
  encodeError: createDefaultErrors(publicUrl),
  errorSchema: GeneralErrorBody,
})
