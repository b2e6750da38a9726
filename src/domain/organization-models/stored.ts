import type { Configuration, Secrets } from '../audit/export/configuration.ts'

/** An upstream that an organization added. */
export type StoredUpstream = StoredEntry

/** A model that an organization added. */
export type StoredModel = StoredEntry

export type StoredEntry = {
  readonly id: string
  readonly organizationId: string
  /** Never changes, because models, keys and callers refer to it. */
  readonly name: string
  /** The fields that were sent, as the configuration file has them, with masks in place of secrets. */
  readonly settings: Configuration
  readonly isPaused: boolean
  readonly revision: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Everything that an organization added, with the secrets of each upstream by its id. */
export type OrganizationEntries = {
  readonly upstreams: readonly StoredUpstream[]
  readonly models: readonly StoredModel[]
  /** An upstream whose secrets cannot be decrypted is missing. */
  readonly secrets: ReadonlyMap<string, Secrets>
  /** Whether the organization pays with credits. */
  readonly isMetered: boolean
}

/** Stored upstreams and models. An organization has few, so lists are complete. */
export type OrganizationModelStore = {
  /** Undefined if the organization added nothing. */
  load(organizationId: string): Promise<OrganizationEntries | undefined>
  /** Makes other changes of the organization wait until the transaction ends, so that checks across entries hold. */
  lock(organizationId: string): Promise<void>
  listUpstreams(organizationId: string): Promise<readonly StoredUpstream[]>
  listModels(organizationId: string): Promise<readonly StoredModel[]>
  secretsOf(upstream: StoredUpstream): Promise<Secrets>
  /** False if another entry of the organization has the name. */
  insertUpstream(upstream: StoredUpstream, secrets: Secrets): Promise<boolean>
  /** False if the stored revision is not the one before. */
  replaceUpstream(upstream: StoredUpstream, secrets: Secrets): Promise<boolean>
  removeUpstream(upstream: StoredUpstream): Promise<boolean>
  insertModel(model: StoredModel): Promise<boolean>
  replaceModel(model: StoredModel): Promise<boolean>
  removeModel(model: StoredModel): Promise<boolean>
}
