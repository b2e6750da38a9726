import { Fault } from '../base/fault.ts'
import type { Catalogue, Model } from '../domain/inference/catalogue.ts'
import type { OperationName } from '../domain/inference/operations.ts'
import type { Caller } from '../domain/identity/principal.ts'

export function modelNotFound(name: string, { advice, cause }: { advice?: string; cause?: unknown } = {}): Fault {
  const message = `There is no model ${name.slice(0, 200)}.`
  const text = advice === undefined ? message : `${message} ${advice}`
  return new Fault('not_found', 'model_not_found', text, { param: 'model', cause })
}

function modelPaused(name: string): Fault {
  const message = `The model ${name} is paused. Use another one, or ask an administrator of your organization to resume it.`
  return new Fault('not_found', 'model_paused', message, { param: 'model' })
}

/** Finds a model in the catalogue. A model that exists but is not allowed is a different fault than an unknown one. */
export function permittedModel(catalogue: Catalogue, caller: Caller, { operation, name }: NamedModel): Model {
  const model = allowedModel(catalogue, caller, name)
  if (model.operations === undefined || model.operations.includes(operation)) return model
  const message = `The model ${name} cannot be used for ${operation}, only for ${model.operations.join(' and ')}.`
  throw new Fault('validation', 'invalid_parameter', message, { param: 'model' })
}

/** The model that a request names, and what it is used for. */
export type NamedModel = { readonly operation: OperationName; readonly name: string }

function allowedModel(catalogue: Catalogue, caller: Caller, name: string): Model {
  const model = catalogue.find(name)
  if (caller.kind === 'free') return model?.freeTier ? model : rejectFree(catalogue, name, model)
  if (!model) throw modelNotFound(name)
  if (model.isPaused) throw modelPaused(model.name)
  if (caller.models === null || caller.models.includes(model.name)) return model
  throw new Fault('permission', 'model_not_allowed', `This key may not use the model ${name}.`, { param: 'model' })
}

/** A list of many free models would be longer than an error message should be. */
const maxNames = 5

/** Names the models that are free, because the caller has no key with which to list them. */
function rejectFree(catalogue: Catalogue, name: string, model: Model | undefined): never {
  const free = [...catalogue.list(), ...catalogue.patterns()].filter(({ freeTier }) => freeTier)
  const names = free.slice(0, maxNames).map((each) => each.name)
  const allowed =
    names.length === 0
      ? 'No model is free here: send an API key.'
      : `The free request may use ${names.join(' or ')}; for any other model, send an API key.`
  if (model === undefined) throw modelNotFound(name, { advice: allowed })
  throw new Fault('permission', 'model_not_allowed', `The model ${name} is not free. ${allowed}`, { param: 'model' })
}
