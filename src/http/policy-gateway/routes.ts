import type { ResourceRoutes } from '../resources/route.ts'
import type { ResourceActor, ResourceStores, Surface } from '../resources/spec.ts'

/** Where the policy gateway is called: the network, or the control socket. */
export type GatewaySurface = Surface<ResourceActor>

/** Makes routes for administrators, API keys and tokens. */
export type GatewayRoutes<Reads, Stores = Reads> = ResourceRoutes<
  ResourceActor,
  Stores & ResourceStores,
  Reads & ResourceStores
>

/** The same for a part that only reads. */
export type GatewayReads<Reads> = Pick<GatewayRoutes<Reads, object>, 'read' | 'query'>
