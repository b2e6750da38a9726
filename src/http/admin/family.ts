import { createDefaultErrors, GeneralErrorBody } from '../default-errors.ts'
import type { EndpointFamily, Route } from '../route.ts'

/** `/v1/organization/*`: the administration API. */
export const adminFamily = (routes: readonly Route[], publicUrl: () => string): EndpointFamily => ({
  name: 'Administration',
  description: 'Policies, keys, members, projects, limits, usage, credits and the audit log of an organization.',
  prefixes: ['/v1/organization'],
  routes,
  encodeError: createDefaultErrors(publicUrl),
  errorSchema: GeneralErrorBody,
})
