import { Fault } from '../base/fault.ts'
import type { Catalogue, Model } from '../domain/inference/catalogue.ts'
import type { Caller } from '../domain/identity/principal.ts'

export const modelNotFound = (name: string, cause?: unknown): Fault =>
  new Fault('not_found', 'model_not_found', `There is no model ${name.slice(0, 200)}.`, { param: 'model', cause })

/** Finds a model in the catalogue. A model that exists but is not allowed is a different fault than an unknown one. */
export function permittedModel(catalogue: Catalogue, caller: Caller, name: string): Model {
  const model = catalogue.find(name)
  if (!model) throw modelNotFound(name)
  const isAllowed = caller.kind === 'free' ? model.freeTier : caller.models === null || caller.models.includes(name)
  if (isAllowed) return model
  throw new Fault('permission', 'model_not_allowed', `This key may not use the model ${name}.`, { param: 'model' })
}
