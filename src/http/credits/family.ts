import { creditsUnavailable } from '../../pipeline/billing/limit-faults.ts'
import { GeneralErrorBody } from '../general-refusal.ts'
import type { Family } from '../route.ts'
import { creditRoutes, type CreditRouteParts } from './routes.ts'

/** `/v1/credits`. */
export const creditsFamily = (parts: CreditRouteParts, refuse: Family['refuse']): Family => ({
  name: 'Credits',
  prefixes: ['/v1/credits'],
  routes: creditRoutes(parts),
  refuse: refuseCreditRead(refuse),
  refusalSchema: GeneralErrorBody,
})

/** The contract has one code for a balance that cannot be read (7.4), whatever stood in the way of it. */
export const refuseCreditRead =
  (refuse: Family['refuse']): Family['refuse'] =>
  (fault, ...rest) =>
    refuse(fault.code === 'storage_unavailable' ? creditsUnavailable(fault) : fault, ...rest)
