import { openEncoder } from '../adapters/classifiers/encoder/encoder.ts'
import type { SendRequest } from '../adapters/network/request.ts'
import { systemClock, type Clock } from '../base/clock.ts'
import { noFailpoint, type Failpoint } from '../base/failpoint.ts'
import type { Log } from '../base/log.ts'
import { systemRandom, type Random } from '../base/random.ts'
import type { Workers } from './workers.ts'

/** What tests replace: time, randomness, log, network, the encoder of the classifier. */
export type World = {
  readonly clock?: Clock
  readonly random?: Random
  readonly log?: Log
  readonly failpoint?: Failpoint
  /** Wraps the HTTP client of export sinks. */
  readonly network?: (request: SendRequest) => SendRequest
  readonly openEncoder?: typeof openEncoder
  /** Not for tests alone: `gatehouse serve --accept-loss`. */
  readonly acceptsLoss?: boolean
  /** Set if several processes serve the ports. */
  readonly workers?: Workers | undefined
}

const unchanged = (request: SendRequest): SendRequest => request

/** The real ones for everything that is not replaced. The log depends on the configuration. */
export const completeWorld = (world: World) => ({
  clock: world.clock ?? systemClock,
  random: world.random ?? systemRandom,
  failpoint: world.failpoint ?? noFailpoint,
  network: world.network ?? unchanged,
  openEncoder: world.openEncoder ?? openEncoder,
})
