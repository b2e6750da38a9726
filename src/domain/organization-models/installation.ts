import type { Configuration } from '../audit/export/configuration.ts'

/** What a check needs to know of an upstream. */
export type UpstreamAbilities = {
  readonly timeoutMs: number
  readonly queueTimeoutMs: number
  readonly canEmbed: boolean
  readonly maxConcurrent: number
}

/** The upstreams and models of the configuration, and what organizations may add beside them. */
export type InstallationEntries = {
  /** False: the operator turned off that organizations add entries. */
  readonly isEnabled: boolean
  hasModel(name: string): boolean
  /** Undefined if the installation has no such upstream. */
  abilitiesOf(upstream: string): UpstreamAbilities | undefined
  kindOf(upstream: string): string | undefined
  /** The same for a stored upstream. */
  abilitiesIn(settings: Configuration): UpstreamAbilities
  /** Whether models of the organization may use upstreams of the installation. */
  mayUseUpstreams(organization: { readonly isMetered: boolean }): boolean
  /** The longest time that a request to a stored model may take, with all of its targets. */
  readonly maxRequestMs: number
}
