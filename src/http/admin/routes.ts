import type { Administrator } from '../../domain/identity/principal.ts'
import type { ResourceRoutes } from '../resources/route.ts'
import type { ResourceStores, Surface } from '../resources/spec.ts'

/** Where administrators call: the network, or the control socket. */
export type AdminSurface = Surface<Administrator> & {
  /** Where models are called; null if it is the address that administration is requested at. */
  readonly inferenceUrl: () => string | null
}

/** Makes routes for administrators. A mutation has the stores of one transaction, a read those outside of any. */
export type AdminRoutes<Reads, Stores = Reads> = ResourceRoutes<
  Administrator,
  Stores & ResourceStores,
  Reads & ResourceStores
>

/** The same for a part that only reads. */
export type AdminReads<Reads> = Pick<AdminRoutes<Reads, object>, 'read' | 'query'>

/** A part of the service, and what is wrong with it. */
export type HealthCheck = {
  readonly part: string
  readonly problem: () => Promise<string | undefined>
  readonly isVital?: () => boolean
}
