import type { Model, ModelTarget } from './catalogue.ts'

/** Where the operator defined an upstream or a model. */
export type Definition = {
  readonly source: 'file' | 'environment' | 'built_in'
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
}

export type ListServedModels = () => Promise<readonly ServedModel[]>
