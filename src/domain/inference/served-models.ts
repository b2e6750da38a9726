import type { Model, ModelTarget } from './catalogue.ts'

/** Where an upstream or a model is defined. */
export type Definition = {
  readonly source: 'file' | 'environment' | 'built_in' | 'organization'
  /** The configuration file; null for the other sources. */
  readonly file: string | null
  /** The path in the file, such as `models[0]`, or the variable; null for what is built in. */
  readonly key: string | null
}

/** An entry of the catalogue with what administrators see of it. */
export type ServedModel = Omit<Model, 'targets'> & {
  readonly targets: readonly (ModelTarget & { readonly kind: string })[]
  /** The names that callers can send. For an entry `prefix*`, those that its upstreams list. */
  readonly names: readonly string[]
  readonly definedIn: Definition
  /** Undefined for a model of the installation. */
  readonly stored?: StoredFacts
}

/** What is stored of an upstream or model that an organization added. */
export type StoredFacts = {
  readonly id: string
  readonly isPaused: boolean
  /** True if the configuration of the installation has an entry of the same name, which is used instead. */
  readonly isHidden: boolean
  readonly revision: number
  /** The fields as the configuration file would have them, with masks in place of secrets. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export type ListServedModels = (organizationId: string) => Promise<readonly ServedModel[]>
