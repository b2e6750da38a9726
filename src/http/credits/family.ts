import { creditsUnavailable } from '../../pipeline/billing/limit-faults.ts'
import { GeneralErrorBody } from '../default-errors.ts'
import type { EndpointFamily } from '../route.ts'
import { creditRoutes, type CreditRouteParts } from './routes.ts'

/** `/v1/credits`. */
export const creditsFamily = (parts: CreditRouteParts, encodeError: EndpointFamily['encodeError']): EndpointFamily => ({
  name: 'Credits',
  description: 'The credit balance of the key’s organization.',
  prefixes: ['/v1/credits'],
  routes: creditRoutes(parts),
  encodeError: creditReadError(encodeError),
  errorSchema: GeneralErrorBody,
})

/** The contract has one code for a balance that cannot be read (7.4), whatever the cause. */
export const creditReadError =
  (encodeError: EndpointFamily['encodeError']): EndpointFamily['encodeError'] =>
  (fault, ...rest) =>
    encodeError(fault.code === 'storage_unavailable' ? creditsUnavailable(fault) : fault, ...rest)
