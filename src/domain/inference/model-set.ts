import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { Catalogue } from './catalogue.ts'
import type { UpstreamHealth } from './health.ts'
import type { ModelDirectory } from './model-directory.ts'
import type { Provider } from './provider.ts'

/** The models that an organization can use, with what calls them. */
export type ModelSet = {
  readonly catalogue: Catalogue
  readonly providers: ReadonlyMap<string, Provider>
  /** What requests and probes saw of the upstreams. */
  readonly health: UpstreamHealth
  readonly modelDirectory: ModelDirectory
}

/**
 * The models of the installation, and those that the organization added. The set of the installation if it added none. A
 * request uses one set from start to end, so that a change takes effect for requests that start after it.
 */
export type ModelSetOf = (organizationId: string) => MaybePromise<ModelSet>
